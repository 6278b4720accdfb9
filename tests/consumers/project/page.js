// A page: asks when the test says so. The page finds `countercheck` by an import map or in its bundle.
import { createAssistant } from "countercheck";

globalThis.ask = async (question) => {
  const assistant = await createAssistant({ index: "/public/docs.ccx" });
  return assistant.ask(question);
};
