/** A host with a server behind it: calls a tool, mounts the view it names, and lets the SDK do the rest. */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  AppBridge,
  getToolUiResourceUri,
  PostMessageTransport,
} from "@modelcontextprotocol/ext-apps/app-bridge";

const INFO = { name: "server-host", version: "1" };

class ServerHost {
  /** What the user said to the model from within the view. */
  readonly messages: unknown[] = [];

  /** Shows a result of `tool` for its own example; resolves with the render's id. */
  async show(url: string, tool: string): Promise<unknown> {
    const client = new Client(INFO);
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    const bridge = new AppBridge(
      client,
      INFO,
      { serverTools: {}, message: {} },
      {
        hostContext: { theme: "light", locale: "en-US" },
      },
    );
    bridge.onmessage = async (params) => {
      this.messages.push(structuredClone(params));
      return {};
    };
    const ready = new Promise<void>((resolve) => {
      bridge.oninitialized = () => resolve();
    });
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts");
    frame.style.cssText = "width:400px;height:600px;border:0";
    document.body.append(frame);
    const inner = frame.contentWindow as Window;
    await bridge.connect(new PostMessageTransport(inner, inner));
    frame.srcdoc = await viewOf(client, tool);
    await ready;
    const details = await client.callTool({
      name: "get_widget_details",
      arguments: { names: [tool] },
    });
    const [{ example }] = (details.structuredContent as Details).items;
    await bridge.sendToolInput({ arguments: example });
    const result = await client.callTool({ name: tool, arguments: example });
    await bridge.sendToolResult(result);
    const mark = result._meta?.["widgetd/render"] as { readonly id: string } | undefined;
    return mark?.id;
  }
}

interface Details {
  readonly items: readonly [{ readonly example: Record<string, unknown> }];
}

async function viewOf(client: Client, tool: string): Promise<string> {
  const { tools } = await client.listTools();
  const uri = getToolUiResourceUri(tools.find(({ name }) => name === tool) ?? {});
  const { contents } = await client.readResource({ uri: uri ?? "" });
  const [view] = contents;
  return view && "text" in view ? view.text : "";
}

declare global {
  interface Window {
    serverHost: ServerHost;
  }
}

window.serverHost = new ServerHost();
