// What to do about a failure, in English: a part of the element's strings, see messages.ts.

/** What is known of a failure. */
export interface Failed {
  /** What went wrong at a service, or here when no service is at fault. */
  code: string;
  /** Whether a service failed, rather than this page or the Worker. */
  byService: boolean;
  /** Whether the reader has set the service. */
  isReaders: boolean;
  /** The page's origin, which a service must allow. */
  origin: string;
}

/** A sentence that says what to do, where one is known. */
export type Advice = (failed: Failed) => string | undefined;

/** Failures of services. */
const OF_SERVICES: Record<string, string | ((origin: string) => string)> = {
  unauthorized: "The service did not accept the key. Check it in the settings.",
  quota_exhausted: "The account at the service has no quota left. Check its plan and balance, or choose another service.",
  forbidden: "The service does not allow this. Check what the key may be used for.",
  misconfigured: "The Worker at this address is not set up for this. Its owner must give it a model or a web search, or see at its /healthz what is wrong.",
  not_found: "The service knows no such model, or there is none at this address. Check both in the settings; most addresses end in /v1.",
  invalid_request: "The service rejected the request. Check the model’s name in the settings, or choose another model.",
  unprocessable: "The service rejected the request. Check the model’s name in the settings, or choose another model.",
  timeout: "The service took too long. Try again: a model that is being loaded is slow at first. Or choose a smaller one.",
  conflict: "The service failed. Try again in a moment.",
  too_large: "The passages are longer than the model takes. Set fewer of them, or choose another model.",
  rate_limited: "The service takes no more questions for now. Wait a little, then try again.",
  upstream_error: "The service failed. Try again in a moment.",
  overloaded: "The service is overloaded, or still loads its model. Try again in a moment.",
  network: "The service could not be reached. Check that you are online and that it is running, then try again.",
  cors_or_network: (origin) =>
    `The browser could not reach the service. Check that its address is right, that it is running, and that it allows requests from ${origin} (CORS), then try again.`,
  bad_response: "What came back is not a model’s reply. Check the address in the settings; most end in /v1.",
  truncated: "The connection broke off. Try again.",
  content_filtered: "The service withheld its reply. Ask in other words, or choose another model.",
  refused: "The model declined to answer. Ask in other words, or choose another model.",
};

/** What a reader cannot mend when the service is the site's. */
const OF_OWNERS = new Set([
  ...["unauthorized", "quota_exhausted", "forbidden", "not_found", "invalid_request", "unprocessable", "bad_response"],
  ...["function_failed", "misconfigured", "not_configured", "index_unavailable", "embedder_unavailable"],
  ...["origin_not_allowed", "internal"],
]);

/** Failures of the page and of the Worker. */
const OF_OURS: Record<string, string> = {
  unreachable: "The Worker could not be reached. Check that you are online, then try again.",
  load_failed: "A file that this page needs could not be loaded. Check that you are online, then try again.",
  panicked: "The engine stopped unexpectedly. Try again: it starts anew.",
  rate_limited: "This site takes no more questions for now. Wait a little, then try again.",
  too_large: "The question is too long. Shorten it, then ask again.",
};

/** The English sentences. */
export function adviceInEnglish({ code, byService, isReaders, origin }: Failed): string | undefined {
  if (!isReaders && OF_OWNERS.has(code))
    return "What answers here is not set up as it should be. Only the owner of this site can mend that.";
  const advice = byService ? OF_SERVICES[code] : OF_OURS[code];
  return typeof advice === "function" ? advice(origin) : advice;
}
