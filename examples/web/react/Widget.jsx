import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { useEffect, useState } from "react";

const INFO = { name: "my-page", version: "1" };

/** Shows a widget of `server`; `onAction` hears what the user does in it. */
export function Widget({ server, name, args, theme, locale, onAction }) {
  const [address, setAddress] = useState();
  useEffect(() => {
    const client = new Client(INFO);
    (async () => {
      await import(/* @vite-ignore */ new URL("/see/static/element.js", server).href);
      await client.connect(new StreamableHTTPClientTransport(new URL(server)));
      // Any MCP client will do: the text of a result ends with the address.
      const { content } = await client.callTool({ name, arguments: args });
      setAddress(content.at(-1).text.split(" ").at(-1));
    })();
    return () => { client.close(); };
  }, [server, name, args]);
  return address && <widgetd-view address={address} theme={theme} locale={locale} onwidgetd-action={({ detail }) => onAction(detail)} />;
}
