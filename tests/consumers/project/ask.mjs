// Node: asks the question it is given and prints the answer as JSON.
import { createAssistant } from "countercheck";

globalThis.fetch = () => {
  throw new Error("the network was asked");
};

const assistant = await createAssistant({ index: "public/docs.ccx" });
console.log(JSON.stringify(await assistant.ask(process.argv[2])));
