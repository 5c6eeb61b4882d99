// A run of CopilotKit's agent protocol: the model calls a widget, the page reads what it draws. node copilotkit.mjs URL
import { AbstractAgent, EventType } from "@ag-ui/client";
import { MCPAppsMiddleware } from "@ag-ui/mcp-apps-middleware";
import { from } from "rxjs";

class Model extends AbstractAgent {
  run({ threadId, runId, tools }) {
    const call = { toolCallId: "call", toolCallName: tools[0]?.name };
    return from([
      { type: EventType.RUN_STARTED, threadId, runId },
      { type: EventType.TOOL_CALL_START, ...call },
      { type: EventType.TOOL_CALL_ARGS, ...call, delta: '{"who":"Ada"}' },
      { type: EventType.TOOL_CALL_END, ...call },
      { type: EventType.RUN_FINISHED, threadId, runId },
    ]);
  }
}

const agent = new Model({}).use(new MCPAppsMiddleware({ mcpServers: [{ type: "http", url: process.argv[2] }] }));
const seen = {};
const onEvent = ({ event }) => void (seen[event.type] = event);
await agent.runAgent({}, { onEvent });
const { resourceUri: uri, serverHash } = seen.ACTIVITY_SNAPSHOT.content;
const page = { method: "resources/read", params: { uri }, serverHash };
await agent.runAgent({ forwardedProps: { __proxiedMCPRequest: page } }, { onEvent });
console.log(JSON.stringify(seen));
