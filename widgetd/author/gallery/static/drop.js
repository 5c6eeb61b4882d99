/** Takes files that are dropped onto the page into the folder: each widget with its sidecar. */

import { make, readAnswer, reasonOf, request, toast } from "./ui.js";

const SIDECAR = ".toml";

export function acceptFiles() {
  const veil = make("div", { className: "veil", hidden: true }, make("p", { textContent: "Drop .widget files and their sidecars to serve them" }));
  document.body.append(veil);
  let depth = 0;
  /** Files dropped while a question is open wait until it is answered. */
  let turn = Promise.resolve();
  const over = (by) => {
    depth = Math.max(0, depth + by);
    veil.hidden = depth === 0;
  };
  addEventListener("dragenter", (event) => holdsFiles(event) && over(1));
  addEventListener("dragleave", (event) => holdsFiles(event) && over(-1));
  addEventListener("dragover", (event) => holdsFiles(event) && event.preventDefault());
  addEventListener("drop", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    over(-depth);
    const files = [...event.dataTransfer.files];
    turn = turn.then(() => takeAll(files));
  });
}

const holdsFiles = ({ dataTransfer }) => dataTransfer?.types.includes("Files");

/** Saves one file after the other, so that no question hides another. */
async function takeAll(files) {
  const widgets = new Map();
  for (const file of files) {
    const name = file.name.endsWith(SIDECAR) ? file.name.slice(0, -SIDECAR.length) : file.name;
    widgets.set(name, [...(widgets.get(name) ?? []), file]);
  }
  for (const [name, together] of [...widgets].sort()) {
    try {
      const encoded = await Promise.all(together.map(async (file) => [file.name, await base64(file)]));
      await send(name, Object.fromEntries(encoded), false);
    } catch (error) {
      toast(`${name}: ${error.message}.`, "trouble");
    }
  }
}

/** Encodes the bytes: as text, invalid UTF-8 would be replaced. */
function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

async function send(name, files, replace) {
  const address = `/gallery/files${replace ? "?replace=1" : ""}`;
  const response = await request(address, { method: "POST", body: JSON.stringify(files) });
  const answer = await readAnswer(response);
  if (response.ok) toast(`${Object.keys(files).join(" and ")}: served as ${answer.tool}.`);
  else if (answer.replaceable) {
    if (await askToReplace(answer)) await send(name, files, true);
  } else toast(`${answer.path || name}: ${reasonOf(answer)}.`, "trouble");
}

/** Asks whether to replace the files in the folder. */
function askToReplace({ path, problem }) {
  return new Promise((resolve) => {
    const question = make("dialog", { className: "question" });
    const answer = (value) => {
      question.remove();
      resolve(value);
    };
    question.append(
      make("h2", { textContent: path }),
      make("p", { textContent: `${problem[0].toUpperCase()}${problem.slice(1)}.` }),
      make(
        "p",
        { className: "row" },
        make("button", { className: "primary", textContent: "Replace it", onclick: () => answer(true) }),
        make("button", { textContent: "Keep it", autofocus: true, onclick: () => answer(false) }),
      ),
    );
    question.onclose = () => answer(false);
    document.body.append(question);
    question.showModal();
  });
}
