import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";
import { useEffect, useRef } from "react";

const UI = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
const INFO = { name: "my-page", version: "1" };

/** Shows a widget of `server`; `onAction` hears what the user does in it. */
export function Widget({ server, name, args, theme, locale, onAction }) {
  const frame = useRef(null), shown = useRef(null);
  useEffect(() => {
    const client = new Client(INFO, { capabilities: { extensions: UI } });
    let isGone = false;
    (async () => {
      await client.connect(new StreamableHTTPClientTransport(new URL(server)));
      const tool = (await client.listTools()).tools.find((one) => one.name === name);
      const result = await client.callTool({ name, arguments: args });
      const [page] = (await client.readResource({ uri: tool._meta.ui.resourceUri })).contents;
      if (isGone) return;
      const bridge = new AppBridge(null, INFO, { serverTools: {} }, { hostContext: { theme, locale, toolInfo: { tool } } });
      bridge.oncalltool = (params) => {
        if (params.name === "widget_action") onAction(params.arguments);
        return client.callTool(params);
      };
      bridge.onsizechange = ({ height }) => { frame.current.style.height = `${height}px`; };
      bridge.oninitialized = () => bridge.sendToolResult(result);
      await bridge.connect(new PostMessageTransport(frame.current.contentWindow, frame.current.contentWindow));
      shown.current = bridge;
      const images = page._meta.ui.csp.resourceDomains.join(" ");
      const policy = `default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: ${images}`;
      frame.current.srcdoc = page.text.replace("<head>", `<head><meta http-equiv="content-security-policy" content="${policy}">`);
    })();
    return () => { isGone = true; shown.current?.close(); client.close(); };
  }, [server, name, args]);
  useEffect(() => { shown.current?.sendHostContextChange({ theme, locale }); }, [theme, locale]);
  return <iframe ref={frame} title="Widget" sandbox="allow-scripts" style={{ border: 0, width: "100%", colorScheme: theme }} />;
}
