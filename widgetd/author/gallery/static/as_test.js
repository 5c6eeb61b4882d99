/** Writes the last action in a widget as a test file that repeats it. */

const quote = (value) => JSON.stringify(value).replaceAll("${", () => "$${");

const labelOf = ({ options = [] }, value) => options.find((option) => option.value === value)?.label ?? value;

/** Returns the step that gives a field its value; none for its initial value. */
const FILLED = {
  Input: (target, text) => (text === "" ? ["Clear", target] : ["Enter Text", { target, text }]),
  Checkbox: (target, ticked) => [ticked ? "Check" : "Uncheck", target],
  DatePicker: (target, date) => (date ? ["Pick Date", { target, date }] : ["Clear", target]),
  Select: (target, value, node) => (value ? ["Choose", { target, option: labelOf(node, value) }] : ["Clear", target]),
};
FILLED.Textarea = FILLED.Input;
FILLED.RadioGroup = FILLED.Select;

function* walk(node) {
  if (!node || typeof node !== "object") return;
  yield node;
  for (const child of Object.values(node)) yield* walk(child);
}

const isSecret = ({ type, inputType }) => type === "Input" && inputType === "password";

/** Returns the values of `fields` in a payload: `buyer.email` is in `buyer`. */
const valueIn = (payload, name) => name.split(".").reduce((within, part) => within?.[part], payload);

function* filling(nodes, payload) {
  for (const node of nodes) {
    if (!(node.type in FILLED) || !node.name || isSecret(node)) continue;
    const value = valueIn(payload, node.name);
    const before = node.defaultChecked ?? node.defaultValue ?? (typeof value === "boolean" ? false : "");
    if (value === undefined || (value ?? "") === before) continue;
    yield FILLED[node.type](`field=${node.name}`, value, node);
  }
}

const isSent = (own, payload) =>
  Object.entries(own ?? {}).every(([key, value]) => JSON.stringify(payload[key]) === JSON.stringify(value));

/** Returns the pressed control; of several with the same action, the one with the same payload. */
function* pressing(nodes, action, payload) {
  if (nodes.some(({ onSubmitAction }) => onSubmitAction?.type === action)) return yield ["Submit"];
  const own = nodes.flatMap(({ onClickAction, confirm, cancel }) => [onClickAction, confirm?.action, cancel?.action]);
  const same = own.filter((one) => one?.type === action);
  const at = same.findIndex((one) => isSent(one.payload, payload));
  if (same.length) yield ["Press", `action=${action}${same.length > 1 ? ` [${at + 1 || 1}]` : ""}`];
}

function hideSecrets(nodes, payload) {
  const open = structuredClone(payload ?? {});
  for (const { name } of nodes.filter((node) => isSecret(node) && node.name)) {
    const path = name.split(".");
    const within = valueIn(open, path.slice(0, -1).join(".")) ?? open;
    delete within[path.at(-1)];
  }
  return open;
}

export function asTest(tool, shown, { action, payload }) {
  const nodes = [...walk(shown.result?._meta["widgetd/widget"])];
  const sent = hideSecrets(nodes, payload);
  const steps = [
    ["Show Widget", { arguments: shown.arguments }],
    ...filling(nodes, sent),
    ...pressing(nodes, action, sent),
    ["Expect Action", { type: action, payload: sent }],
  ];
  const lines = steps.map(([keyword, given]) => `      - ${keyword}${given === undefined ? "" : `: ${quote(given)}`}`);
  return [`widget: ${tool}`, "tests:", `  - name: ${quote(action)}`, "    steps:", ...lines, ""].join("\n");
}
