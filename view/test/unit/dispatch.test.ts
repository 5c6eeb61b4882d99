import { describe, expect, test } from "vitest";
import type { Action } from "../../src/actions/action";
import { Dispatcher } from "../../src/actions/dispatch";
import type { ActionRequest } from "../../src/app/stage";
import type { Ability, Host } from "../../src/host/host";
import { readResult } from "../../src/host/result";
import type { JsonObject } from "../../src/tree/node";

const ALL: Ability[] = ["serverTools", "message", "updateModelContext", "openLinks"];

/** A host that writes down what it is asked for. */
function stand(
  abilities: Ability[] = ALL,
  answer: JsonObject = {},
  renderId: string | undefined = "r1",
) {
  const asked: unknown[] = [];
  const shown: unknown[] = [];
  const host = {
    can: (ability: Ability) => abilities.includes(ability),
    callTool: async (name: string, args: JsonObject) => {
      asked.push({ tool: name, ...args, idempotency_key: undefined });
      return readResult(answer);
    },
    say: async (text: string) => void asked.push({ say: text }),
    updateModel: async (_text: string, state: JsonObject) =>
      void asked.push({ context: structuredClone(state) }),
    openLink: async (url: string) => void asked.push({ link: url }),
    log: () => undefined,
  } as unknown as Host;
  const dispatcher = new Dispatcher(host, {
    renderId: () => renderId,
    show: ({ tree }) => shown.push(tree),
    complain: (problem) => shown.push(problem),
  });
  return { dispatcher, asked, shown };
}

const action = (changes: Partial<Action> = {}): Action => ({
  type: "email.send",
  payload: undefined,
  handler: "server",
  loadingBehavior: "auto",
  streaming: true,
  ...changes,
});

const request = (
  given: Partial<Action> = {},
  more: Partial<ActionRequest> = {},
): ActionRequest => ({
  action: action(given),
  payload: { to: "a@example.org", pin: "1234" },
  shownPayload: { to: "a@example.org", pin: "•••" },
  label: "Send",
  isChange: false,
  ...more,
});

const TOOL_CALL = {
  tool: "widget_action",
  render_id: "r1",
  action: "email.send",
  payload: { to: "a@example.org", pin: "1234" },
};
const TURN = {
  say: 'The user chose “Send” in the widget.\nAction: email.send\nPayload: {"to":"a@example.org","pin":"•••"}\nRender: r1',
};
const KNOWN = {
  context: {
    renderId: "r1",
    actions: [
      { action: "email.send", label: "Send", payload: { to: "a@example.org", pin: "•••" } },
    ],
  },
};

describe("a server action", () => {
  test("calls the tool with everything, then starts a turn without the passwords", async () => {
    const { dispatcher, asked } = stand();
    await dispatcher.send(request());
    expect(asked).toEqual([TOOL_CALL, TURN]);
  });

  test("that does not stream becomes context instead of a turn", async () => {
    const { dispatcher, asked } = stand();
    await dispatcher.send(request({ streaming: false }));
    expect(asked).toEqual([TOOL_CALL, KNOWN]);
  });

  test("of a changed field starts no turn", async () => {
    const { dispatcher, asked } = stand();
    await dispatcher.send(request({}, { isChange: true }));
    expect(asked).toEqual([TOOL_CALL, KNOWN]);
  });

  test("becomes a message where the host calls no tools", async () => {
    const { dispatcher, asked } = stand(["message"]);
    await dispatcher.send(request());
    expect(asked).toEqual([TURN]);
  });

  test("becomes a message where the result has no render to name", async () => {
    const { dispatcher, asked } = stand(ALL, {}, "");
    await dispatcher.send(request());
    expect(asked).toEqual([{ say: TURN.say.replace("\nRender: r1", "") }]);
  });

  test("shows the tree that comes back", async () => {
    const tree = { type: "Card", children: [] };
    const { dispatcher, shown } = stand(ALL, { structuredContent: tree });
    await dispatcher.send(request());
    expect(shown).toEqual([tree]);
  });

  test("that the server finds incomplete starts no turn, and says which fields", async () => {
    const answer = { isError: true, structuredContent: { validationErrors: { to: "is missing" } } };
    const { dispatcher, asked } = stand(ALL, answer);
    expect(await dispatcher.send(request())).toEqual({ problems: { to: "is missing" } });
    expect(asked).toEqual([TOOL_CALL]);
  });

  test("that fails is said to have failed", async () => {
    const answer = { isError: true, content: [{ type: "text", text: "no such render" }] };
    const { dispatcher, shown } = stand(ALL, answer);
    await dispatcher.send(request());
    expect(shown).toEqual(["“Send” did not go through: no such render"]);
  });
});

describe("a client action", () => {
  test("about a link opens it", async () => {
    const { dispatcher, asked } = stand();
    await dispatcher.send(
      request({ handler: "client", type: "open_url", payload: { url: "https://example.org" } }),
    );
    expect(asked).toEqual([{ link: "https://example.org" }]);
  });

  test("about a script opens nothing", async () => {
    const { dispatcher, asked } = stand();
    await dispatcher.send(
      request({ handler: "client", type: "open_url", payload: { url: "javascript:x" } }),
    );
    expect(asked).not.toContainEqual({ link: "javascript:x" });
  });

  test("of any other kind becomes context", async () => {
    const { dispatcher, asked } = stand();
    await dispatcher.send(request({ handler: "client" }));
    expect(asked).toEqual([KNOWN]);
  });
});

test.each([
  [["serverTools"], "server", true],
  [["message"], "server", true],
  [["updateModelContext"], "server", false],
  [["updateModelContext"], "client", true],
  [["serverTools"], "client", false],
  [[], "server", false],
] as [Ability[], Action["handler"], boolean][])(
  "a host with %j can take a %s action: %s",
  (abilities, handler, can) => {
    expect(stand(abilities).dispatcher.can(action({ handler }))).toBe(can);
  },
);

test("the context holds everything that was done, the latest twenty", async () => {
  const { dispatcher, asked } = stand(["updateModelContext"]);
  for (let n = 0; n < 25; n++) await dispatcher.send(request({ handler: "client", type: `a${n}` }));
  const { context } = asked.at(-1) as { context: { actions: { action: string }[] } };
  expect(context.actions.map(({ action }) => action)).toEqual(
    Array.from({ length: 20 }, (_, n) => `a${n + 5}`),
  );
});
