/** Reads a JSON Schema the way a form needs it: one plain node, with a kind. */

const DEEPEST = 12;

/** Returns `schema` with its references followed and its parts of `allOf` put together. */
export function resolve(schema, root, depth = 0) {
  if (typeof schema !== "object" || schema === null || depth > DEEPEST) return {};
  let node = schema;
  if (typeof node.$ref === "string") {
    const { $ref, ...beside } = node;
    node = { ...resolve(at(root, $ref), root, depth + 1), ...beside };
  }
  for (const part of node.allOf ?? []) {
    const inner = resolve(part, root, depth + 1);
    node = {
      ...inner,
      ...node,
      properties: { ...inner.properties, ...node.properties },
      required: [...(inner.required ?? []), ...(node.required ?? [])],
    };
  }
  return node;
}

function at(root, ref) {
  if (!ref.startsWith("#")) return {};
  const steps = ref.slice(1).split("/").slice(1);
  return steps.reduce((inner, step) => inner?.[decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~")], root);
}

/** Returns the alternatives of a node: its `anyOf` or `oneOf`, its list of types, or itself alone. */
export function alternatives(node, root) {
  const choices = node.anyOf ?? node.oneOf;
  if (choices) {
    const { anyOf, oneOf, ...beside } = node;
    return choices.map((part) => ({ ...beside, ...resolve(part, root) }));
  }
  if (Array.isArray(node.type)) return node.type.map((type) => ({ ...node, type }));
  return [node];
}

/** Returns the kind of a control: enum, const, boolean, number, string, array, object, null, any. */
export function kindOf(node) {
  if ("const" in node) return "const";
  if (node.enum) return "enum";
  if (node.type === "integer") return "number";
  if (node.type) return node.type;
  if (node.properties) return "object";
  return node.items ? "array" : "any";
}

/** Tells whether `value` fits `node`, as deep as the choice of an alternative needs. */
export function resembles(value, node) {
  switch (kindOf(node)) {
    case "const":
      return value === node.const;
    case "enum":
      return node.enum.includes(value);
    case "number":
      return typeof value === "number";
    case "array":
      return Array.isArray(value);
    case "null":
      return value === null;
    case "object":
      return isObject(value) && matchesConstants(value, node);
    case "any":
      return true;
    default:
      return typeof value === kindOf(node);
  }
}

function matchesConstants(value, node) {
  return Object.entries(node.properties ?? {}).every(
    ([name, inner]) => !(name in value) || !("const" in inner) || value[name] === inner.const,
  );
}

export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns the initial value of an added element of `schema`. */
export function fresh(schema, root, depth = 0) {
  const node = alternatives(resolve(schema, root), root)[0];
  if (node.default !== undefined) return structuredClone(node.default);
  if (node.examples?.length) return structuredClone(node.examples[0]);
  switch (kindOf(node)) {
    case "const":
      return node.const;
    case "enum":
      return node.enum[0];
    case "boolean":
      return false;
    case "number":
      return Math.max(node.minimum ?? 0, Math.min(0, node.maximum ?? 0));
    case "string":
      return "Text".padEnd(node.minLength ?? 0, "…").slice(0, node.maxLength);
    case "array":
      return depth > DEEPEST ? [] : Array.from({ length: node.minItems ?? 0 }, () => fresh(node.items ?? {}, root, depth + 1));
    case "object":
      return depth > DEEPEST ? {} : freshObject(node, root, depth);
    default:
      return null;
  }
}

function freshObject(node, root, depth) {
  const required = new Set(node.required);
  const entries = Object.entries(node.properties ?? {}).filter(([name]) => required.has(name));
  return Object.fromEntries(entries.map(([name, inner]) => [name, fresh(inner, root, depth + 1)]));
}
