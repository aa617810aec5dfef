// The description of the API, drawn by Swagger UI; operations are tried with the key that this tab keeps.

import { byId, fromRoot } from "./parts.js";
import { attempt, get, say, withKey } from "./shell.js";

attempt(async () => {
  const spec = await get("/openapi.json");
  const below = new URL(fromRoot("/"), location.href).pathname.replace(/\/$/, ""); // of its host, where a proxy puts it
  say("Every operation, with its parameters, answers and problems");
  byId("content").classList.add("api");
  SwaggerUIBundle({
    spec: below ? { ...spec, servers: [{ url: below }] } : spec,
    domNode: byId("content"),
    deepLinking: true,
    requestInterceptor: (request) => ({ ...request, headers: { ...request.headers, ...withKey() } }),
  });
});
