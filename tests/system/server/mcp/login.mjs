/** A host in TypeScript's SDK that knows nothing but an address: `node login.mjs SDK URL`; it prints what a call answered. */

const [, , sdk, url] = process.argv;
const { Client, StreamableHTTPClientTransport, UnauthorizedError } = await import(sdk);

const kept = {};
let code;

const provider = {
  redirectUrl: "http://127.0.0.1:1/back",
  clientMetadata: {
    client_name: "a host",
    redirect_uris: ["http://127.0.0.1:1/back"],
    token_endpoint_auth_method: "none",
  },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => {
    kept.client = client;
  },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => {
    kept.tokens = tokens;
  },
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => {
    kept.verifier = verifier;
  },
  // The user says yes to whatever the browser shows.
  redirectToAuthorization: async (address) => {
    const answer = await fetch(address, { redirect: "manual" });
    code = new URL(answer.headers.get("location")).searchParams.get("code");
  },
};

const connected = async () => {
  const client = new Client({ name: "a host", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  try {
    await client.connect(transport);
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    await transport.finishAuth(code);
    return connected();
  }
  return client;
};

const client = await connected();
const { tools } = await client.listTools();
const result = await client.callTool({ name: "a", arguments: { who: "Ada" } });
console.log(JSON.stringify({ tools: tools.map(({ name }) => name), result: result.structuredContent }));
await client.close();
