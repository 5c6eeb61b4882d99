import { describe, expect, test } from "vitest";
import type { Action } from "../../src/actions/action";
import { Dispatcher } from "../../src/actions/dispatch";
import type { ActionRequest } from "../../src/app/stage";
import type { Ability, Host } from "../../src/host/host";
import { readResult } from "../../src/host/result";
import { RpcError } from "../../src/host/rpc";
import type { JsonObject } from "../../src/tree/node";

const ALL: Ability[] = ["serverTools", "message", "updateModelContext", "openLinks"];

/** A host that records its requests. */
function makeDispatcher(
  abilities: Ability[] = ALL,
  answer: JsonObject | Promise<JsonObject> | (() => JsonObject | Promise<JsonObject>) = {},
  renderId: string | undefined = "r1",
) {
  const requests: unknown[] = [];
  const shown: unknown[] = [];
  const notices: string[] = [];
  const keys: string[] = [];
  let picture = "one";
  let version = 1;
  let agrees = true;
  const host = {
    can: (ability: Ability) => abilities.includes(ability),
    callTool: async (name: string, args: JsonObject) => {
      requests.push({ tool: name, ...args, idempotency_key: undefined });
      keys.push(String(args.idempotency_key));
      return readResult(await (typeof answer === "function" ? answer() : answer));
    },
    say: async (text: string) => void requests.push({ say: text }),
    updateModel: async (_text: string, state: JsonObject) =>
      void requests.push({ context: structuredClone(state) }),
    openLink: async (url: string) => void requests.push({ link: url }),
    log: () => undefined,
  } as unknown as Host;
  const dispatcher = new Dispatcher(host, {
    renderId: () => renderId,
    picture: () => picture,
    version: () => version,
    extras: () => ({}),
    ask: async (question) => {
      notices.push(`ask: ${question}`);
      return agrees;
    },
    repeats: (type) => type === "count.up",
    show: ({ tree }) => shown.push(tree),
    say: ({ kind, text }) => {
      if (kind === "problem") shown.push(text);
      notices.push(`${kind}: ${text}`);
    },
  });
  const redraw = (next: string): void => {
    picture = next;
    version += 1;
  };
  const refuse = (): void => {
    agrees = false;
  };
  return { dispatcher, requests, shown, notices, keys, redraw, refuse };
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

const OWN_ERROR = { isError: true, content: [{ type: "text", text: "[W2402] full" }] };
const TOOL_CALL = {
  tool: "widget_action",
  render_id: "r1",
  version: 1,
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
    const { dispatcher, requests } = makeDispatcher();
    await dispatcher.send(request());
    expect(requests).toEqual([TOOL_CALL, TURN]);
  });

  test("that does not stream becomes context instead of a turn", async () => {
    const { dispatcher, requests } = makeDispatcher();
    await dispatcher.send(request({ streaming: false }));
    expect(requests).toEqual([TOOL_CALL, KNOWN]);
  });

  test("of a changed field starts no turn", async () => {
    const { dispatcher, requests } = makeDispatcher();
    await dispatcher.send(request({}, { isChange: true }));
    expect(requests).toEqual([TOOL_CALL, KNOWN]);
  });

  test("becomes a message where the host calls no tools", async () => {
    const { dispatcher, requests } = makeDispatcher(["message"]);
    await dispatcher.send(request());
    expect(requests).toEqual([TURN]);
  });

  test("becomes a message where the result has no render to name", async () => {
    const { dispatcher, requests } = makeDispatcher(ALL, {}, "");
    await dispatcher.send(request());
    expect(requests).toEqual([{ say: TURN.say.replace("\nRender: r1", "") }]);
  });

  test("shows the tree that comes back", async () => {
    const tree = { type: "Card", children: [] };
    const { dispatcher, shown } = makeDispatcher(ALL, { structuredContent: tree });
    await dispatcher.send(request());
    expect(shown).toEqual([tree]);
  });

  test("that the server finds incomplete starts no turn, and says which fields", async () => {
    const answer = { isError: true, structuredContent: { validationErrors: { to: "is missing" } } };
    const { dispatcher, requests } = makeDispatcher(ALL, answer);
    expect(await dispatcher.send(request())).toEqual({ to: "is missing" });
    expect(requests).toEqual([TOOL_CALL]);
  });

  test("that fails is reported as failed", async () => {
    const answer = { isError: true, content: [{ type: "text", text: "[W2007] no such render" }] };
    const { dispatcher, shown } = makeDispatcher(ALL, answer);
    await dispatcher.send(request());
    expect(shown).toEqual(["“Send” did not go through."]);
  });

  test.each([
    [{ code: "W2007" }, "it is no longer available, so ask for it again"],
    [{ code: "W2402", recoverable: true }, "try again in a moment"],
    [{ code: "W2406", message: "seat is 2 instead of 1" }, "seat is 2 instead of 1"],
  ])("that fails with %j says why in words for people", async (error, reason) => {
    const text = "[W2402] the queue holds 100 unread actions (retry: yes)";
    const answer = {
      isError: true,
      content: [{ type: "text", text }],
      _meta: { "widgetd/error": error },
    };
    const { dispatcher, shown } = makeDispatcher(ALL, answer);
    await dispatcher.send(request());
    expect(shown).toEqual([`“Send” did not go through: ${reason}.`]);
  });

  test("is under way, then sent; a change of a field is neither", async () => {
    const { dispatcher, notices } = makeDispatcher();
    await dispatcher.send(request({ type: "size.set" }, { isChange: true }));
    expect(notices).toEqual([]);
    await dispatcher.send(request());
    expect(notices).toEqual(["busy: Sending “Send”…", "sent: “Send” was sent."]);
  });

  test("is under way and sent in the words of its payload", async () => {
    const { dispatcher, notices } = makeDispatcher();
    const payload = { loadingText: "Asking…", successText: "We answer tomorrow." };
    await dispatcher.send(request({ payload }));
    expect(notices).toEqual(["busy: Asking…", "sent: We answer tomorrow."]);
  });
});

describe("a host that refuses the call", () => {
  test.each([
    ["by an error", () => Promise.reject(new RpcError("Tool not found", -32602))],
    ["in a result", () => ({ isError: true, content: [{ type: "text", text: "Unknown tool" }] })],
  ])("%s hears a message, and is not called again", async (_how, answer) => {
    const { dispatcher, requests, notices } = makeDispatcher(ALL, answer);
    await dispatcher.send(request());
    expect(requests).toEqual([TOOL_CALL, TURN]);
    expect(notices.at(-1)).toBe("sent: “Send” was sent.");
    await dispatcher.send(request({ type: "email.drop" }));
    expect(requests).toHaveLength(3);
  });

  test("hears no message where the call may have reached the server", async () => {
    const lost = () => Promise.reject(new RpcError("Request timed out", -32001));
    const { dispatcher, requests, shown } = makeDispatcher(ALL, lost);
    await dispatcher.send(request());
    expect(requests).toEqual([TOOL_CALL]);
    expect(shown).toEqual(["“Send” did not go through."]);
  });
});

describe("pressing again", () => {
  test("while nothing has changed is the same action, and one turn", async () => {
    const { dispatcher, requests, keys } = makeDispatcher();
    for (let press = 0; press < 3; press++) await dispatcher.send(request());
    expect(new Set(keys).size).toBe(1);
    expect(requests.filter((each) => (each as JsonObject).say)).toEqual([TURN]);
  });

  test("while the first is under way sends nothing", async () => {
    let answer = (_result: JsonObject): void => undefined;
    const { dispatcher, requests } = makeDispatcher(
      ALL,
      new Promise((resolve) => {
        answer = resolve;
      }),
    );
    const presses = [dispatcher.send(request()), dispatcher.send(request())];
    answer({});
    await Promise.all(presses);
    expect(requests).toEqual([TOOL_CALL, TURN]);
  });

  test.each(["serverTools", "message"] as Ability[])(
    "starts no second turn in a host with %s",
    async (ability) => {
      const { dispatcher, requests } = makeDispatcher([ability, "message"]);
      for (let press = 0; press < 2; press++) await dispatcher.send(request());
      expect(requests.filter((each) => (each as JsonObject).say)).toHaveLength(1);
    },
  );

  test("after a failure is the same action, so that none is taken twice", async () => {
    const { dispatcher, keys } = makeDispatcher(ALL, OWN_ERROR);
    for (let press = 0; press < 2; press++) await dispatcher.send(request());
    expect(new Set(keys).size).toBe(1);
  });

  test.each([
    ["what is filled in", request({}, { payload: { to: "b@example.org" } })],
    ["the action", request({ type: "email.drop" })],
  ])("with another one of %s between is the same action still", async (_what, other) => {
    const { dispatcher, requests, keys } = makeDispatcher();
    for (const each of [request(), other, request()]) await dispatcher.send(each);
    expect(keys[0]).toBe(keys[2]);
    expect(keys[1]).not.toBe(keys[0]);
    expect(requests.filter((each) => (each as JsonObject).say)).toHaveLength(2);
  });

  test("in another version is another action", async () => {
    const { dispatcher, keys, redraw } = makeDispatcher();
    await dispatcher.send(request());
    redraw("two");
    await dispatcher.send(request());
    expect(new Set(keys).size).toBe(2);
  });

  test("in a view that was mounted again has the same key, and starts no second turn", async () => {
    const first = makeDispatcher();
    await first.dispatcher.send(request());
    const again = makeDispatcher(ALL, {
      structuredContent: { status: "accepted", repeated: true },
    });
    await again.dispatcher.send(request());
    expect(again.keys).toEqual(first.keys);
    expect(again.requests).toEqual([TOOL_CALL]);
    expect(again.notices.at(-1)).toBe("sent: “Send” was sent.");
  });

  test("tells the model where the first answer was lost on its way", async () => {
    const answers: Promise<JsonObject>[] = [
      Promise.reject(new RpcError("timed out", -32001)),
      Promise.resolve({ structuredContent: { status: "accepted", repeated: true } }),
    ];
    const { dispatcher, requests, keys } = makeDispatcher(ALL, () => answers.shift() ?? {});
    for (let press = 0; press < 2; press++) await dispatcher.send(request());
    expect(new Set(keys).size).toBe(1);
    expect(requests).toEqual([TOOL_CALL, TOOL_CALL, TURN]);
  });

  test("where the author lets it repeat is another action each time", async () => {
    const { dispatcher, keys } = makeDispatcher();
    for (let press = 0; press < 3; press++) await dispatcher.send(request({ type: "count.up" }));
    expect(new Set(keys).size).toBe(3);
  });

  test("after a change of a field that was taken back is the same action", async () => {
    const { dispatcher, keys } = makeDispatcher();
    await dispatcher.send(request());
    await dispatcher.send(request({ type: "size.set" }, { isChange: true }));
    await dispatcher.send(request());
    expect(keys[0]).toBe(keys[2]);
    expect(keys[1]).not.toBe(keys[0]);
  });
});

describe("a client action", () => {
  test("about a link opens it", async () => {
    const { dispatcher, requests } = makeDispatcher();
    await dispatcher.send(
      request({ handler: "client", type: "open_url", payload: { url: "https://example.org" } }),
    );
    expect(requests).toEqual([{ link: "https://example.org" }]);
  });

  test("about a script opens nothing", async () => {
    const { dispatcher, requests } = makeDispatcher();
    await dispatcher.send(
      request({ handler: "client", type: "open_url", payload: { url: "javascript:x" } }),
    );
    expect(requests).not.toContainEqual({ link: "javascript:x" });
  });

  test("of any other kind becomes context", async () => {
    const { dispatcher, requests } = makeDispatcher();
    await dispatcher.send(request({ handler: "client" }));
    expect(requests).toEqual([KNOWN]);
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
    expect(makeDispatcher(abilities).dispatcher.can(action({ handler }))).toBe(can);
  },
);

test("the context holds everything that was done, the latest twenty", async () => {
  const { dispatcher, requests } = makeDispatcher(["updateModelContext"]);
  for (let n = 0; n < 25; n++) await dispatcher.send(request({ handler: "client", type: `a${n}` }));
  const { context } = requests.at(-1) as { context: { actions: { action: string }[] } };
  expect(context.actions.map(({ action }) => action)).toEqual(
    Array.from({ length: 20 }, (_, n) => `a${n + 5}`),
  );
});

describe("an action that the server itself does", () => {
  const ASKED = { structuredContent: { status: "confirm", text: "Book 12A?", token: "c_1" } };
  const DONE = {
    structuredContent: { status: "done", note: "Done.", line: "seat.book was done." },
  };

  test("is sent again with the token once the user agrees, and the model gets one line", async () => {
    const answers: JsonObject[] = [ASKED, DONE];
    const { dispatcher, requests, notices, keys } = makeDispatcher(
      ALL,
      () => answers.shift() ?? {},
    );
    await dispatcher.send(request());
    expect(requests).toEqual([
      TOOL_CALL,
      { ...TOOL_CALL, token: "c_1" },
      { say: "seat.book was done." },
    ]);
    expect(notices).toContain("ask: Book 12A?");
    expect(new Set(keys).size).toBe(1);
  });

  test("is left alone where the user does not agree, and requests again at the next press", async () => {
    const { dispatcher, requests, refuse } = makeDispatcher(ALL, ASKED);
    refuse();
    await dispatcher.send(request());
    await dispatcher.send(request());
    expect(requests).toEqual([TOOL_CALL, TOOL_CALL]);
  });
});
