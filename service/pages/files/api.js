// The description of the API, drawn by Swagger UI; operations are tried with the key that this tab keeps.

import { byId, fromRoot } from "./parts.js";
import { say, withKey } from "./shell.js";

say("Every operation, with its parameters, answers and problems");
byId("content").classList.add("api");
SwaggerUIBundle({
  url: fromRoot("/openapi.json"),
  domNode: byId("content"),
  deepLinking: true,
  requestInterceptor: (request) => ({ ...request, headers: { ...request.headers, ...withKey() } }),
});
