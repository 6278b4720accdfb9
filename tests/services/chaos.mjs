// A proxy that spoils connections: it passes a request on as it is, and its reply late, in slices, byte by byte,
// or only up to some byte. Which of these is asked for stands in the request, as `chaos KIND NUMBER`.
import { once } from "node:events";
import { connect, createServer } from "node:net";

/**
 * What may become of a reply; `bytes` are all of it, `n` is the number in the request.
 *
 * - `latency`: it comes n milliseconds later
 * - `slices`: in pieces of n bytes
 * - `trickle`: a byte each n milliseconds
 * - `reset`: the connection is reset after n bytes
 * - `end`: it is closed after n bytes
 * - `hole`: nothing more comes after n bytes, and the connection stays open
 */
const KINDS = {
  async latency(socket, bytes, n) {
    await after(n);
    socket.end(bytes);
  },
  async slices(socket, bytes, n) {
    for (let at = 0; at < bytes.length && !socket.destroyed; at += n) {
      socket.write(bytes.subarray(at, at + n));
      await new Promise(setImmediate);
    }
    socket.end();
  },
  async trickle(socket, bytes, n) {
    for (let at = 0; at < bytes.length && !socket.destroyed; at += 1) {
      socket.write(bytes.subarray(at, at + 1));
      await after(n);
    }
    socket.end();
  },
  // What is reset at once would never arrive.
  reset: (socket, bytes, n) => socket.write(bytes.subarray(0, n), () => setTimeout(() => socket.resetAndDestroy(), 5)),
  end: (socket, bytes, n) => socket.end(bytes.subarray(0, n)),
  hole: (socket, bytes, n) => socket.write(bytes.subarray(0, n)),
};

const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Starts the proxy before a service on this machine.
 * @param {string} target the service's address
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function spoil(target) {
  const { port } = new URL(target);
  const sockets = new Set();
  const server = createServer(async (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
    // Whoever leaves before the end wants no reply.
    const request = await wholeRequest(socket).catch(() => undefined);
    if (request === undefined) return;
    const [, kind, n] = /chaos (\w+) (\d+)/.exec(request);
    await KINDS[kind](socket, await replyOf(Number(port), request), Number(n));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}

/** A request with its body; undefined when its sender leaves first. */
async function wholeRequest(socket) {
  let text = "";
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += chunk.toString("latin1");
    const head = text.indexOf("\r\n\r\n");
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
    if (head >= 0 && text.length >= head + 4 + length) return text;
  }
  return undefined;
}

/** All bytes of the service's reply. */
async function replyOf(port, request) {
  const upstream = connect(port, "127.0.0.1");
  upstream.write(Buffer.from(request.replace(/^connection: .*\r\n/im, "").replace("\r\n", "\r\nconnection: close\r\n"), "latin1"));
  const chunks = [];
  for await (const chunk of upstream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
