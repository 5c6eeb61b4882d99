/** Takes `.widget` files that are dropped onto the page into the folder, each judged on its own. */

import { make, toast } from "./ui.js";

export function acceptFiles() {
  const veil = make("div", { className: "veil", hidden: true }, make("p", { textContent: "Drop .widget files to serve them" }));
  document.body.append(veil);
  let depth = 0;
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
    for (const file of event.dataTransfer.files) void send(file, false);
  });
}

const holdsFiles = ({ dataTransfer }) => dataTransfer?.types.includes("Files");

async function send(file, replace) {
  const address = `/gallery/files/${encodeURIComponent(file.name)}${replace ? "?replace=1" : ""}`;
  const response = await fetch(address, { method: "PUT", body: file });
  const told = await response.json();
  if (response.ok) toast(`${file.name} is served as ${told.tool}.`);
  else if (response.status === 409 && told.code === "W1001") offerReplacing(file, told);
  else toast(`${file.name}: ${told.problem}${told.advice ? `; ${told.advice}` : ""}.`, "trouble");
}

function offerReplacing(file, { problem }) {
  const question = make("dialog", { className: "question" });
  const close = () => question.remove();
  const replace = make("button", { className: "primary", textContent: "Replace it" });
  replace.onclick = () => {
    close();
    void send(file, true);
  };
  const keep = make("button", { textContent: "Keep it", onclick: close });
  question.append(
    make("h2", { textContent: file.name }),
    make("p", { textContent: `${problem[0].toUpperCase()}${problem.slice(1)}.` }),
    make("p", { className: "row" }, replace, keep),
  );
  question.onclose = close;
  document.body.append(question);
  question.showModal();
}
