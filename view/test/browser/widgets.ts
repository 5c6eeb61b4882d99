/** The bundled widgets as a real server has them: pages, examples, and results for those. */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { serve } from "./daemon";

export interface Served {
  readonly name: string;
  readonly page: string;
  readonly args: Record<string, unknown>;
  readonly result: unknown;
}

export async function bundledWidgets(): Promise<Served[]> {
  const daemon = await serve();
  const client = new Client({ name: "agent", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(daemon.url)));
  const text = async (uri: string) => {
    const [content] = (await client.readResource({ uri })).contents;
    return content && "text" in content ? content.text : "";
  };
  const found: Served[] = [];
  for (const { name, _meta } of (await client.listTools()).tools) {
    const uri = (_meta?.ui as { resourceUri?: string } | undefined)?.resourceUri;
    if (!uri?.startsWith(`ui://widgetd/${name}.`)) continue;
    const args = JSON.parse(await text(`widget://${name}/example`));
    const answer = await client.callTool({ name, arguments: args });
    found.push({ name, page: await text(uri), args, result: answer });
  }
  await client.close();
  await daemon.stop();
  return found;
}
