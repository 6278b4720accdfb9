// Registers <countercheck-assistant>: the one file of the package that does something when imported.
// On a server, where there are no custom elements, it does nothing.

import { CountercheckAssistant } from "./element/assistant-element.ts";

export { CountercheckAssistant };

if (typeof customElements !== "undefined" && customElements.get("countercheck-assistant") === undefined) {
  customElements.define("countercheck-assistant", CountercheckAssistant);
}
