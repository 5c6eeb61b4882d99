/** Hosts as data: what each declares, strips, wraps, empties and refuses. */

import type { McpUiHostCapabilities } from "@modelcontextprotocol/ext-apps/app-bridge";

export interface Quirks {
  /** The name that the host gives itself as a client. */
  readonly client: string;
  /** It declares `io.modelcontextprotocol/ui` to the server. */
  readonly declaresApps: boolean;
  readonly capabilities: McpUiHostCapabilities;
  /** Members of a result that never reach the view. */
  readonly strips: readonly ("structuredContent" | "_meta")[];
  /** It strips the answers to the view's own calls as well. */
  readonly stripsAnswers: boolean;
  /** It delivers `{"result": …}`. */
  readonly wraps: boolean;
  /** A view that is mounted again gets a result without content. */
  readonly emptiesReplays: boolean;
  /** It refuses a view's calls of tools that the server does not list. */
  readonly refusesUnlisted: boolean;
  /** It refuses a view's calls of these tools. */
  readonly refuses: readonly string[];
  /** It sends the result before it answers the handshake. */
  readonly sendsEarly: boolean;
}

const GOOD: Quirks = {
  client: "good-host",
  declaresApps: true,
  capabilities: { serverTools: {}, serverResources: {}, message: {}, updateModelContext: {} },
  strips: [],
  stripsAnswers: false,
  wraps: false,
  emptiesReplays: false,
  refusesUnlisted: false,
  refuses: [],
  sendsEarly: false,
};

/** By name; each thread shows the quirk. */
export const HOSTS = {
  good: GOOD,
  // modelcontextprotocol/ext-apps#696, anthropics/claude-ai-mcp#563
  "claude-desktop": { ...GOOD, client: "claude-ai", strips: ["structuredContent", "_meta"] },
  "claude-desktop, answers too": {
    ...GOOD,
    client: "claude-ai",
    strips: ["structuredContent", "_meta"],
    stripsAnswers: true,
  },
  // anthropics/claude-ai-mcp#61
  "claude-ai": { ...GOOD, client: "claude-ai", declaresApps: false, refusesUnlisted: true },
  // openai/openai-apps-sdk-examples#195
  chatgpt: { ...GOOD, client: "openai-mcp", declaresApps: false, emptiesReplays: true },
  vscode: { ...GOOD, client: "Visual Studio Code" },
  gateway: { ...GOOD, client: "a-gateway", declaresApps: false, refusesUnlisted: true },
  wrapping: { ...GOOD, wraps: true },
  early: { ...GOOD, sendsEarly: true },
  "google-adk": { ...GOOD, client: "google-adk" },
} as const satisfies Record<string, Quirks>;
