import { type AuthenticateBearer, bearerAuthentication } from './authenticate-bearer.ts';
import { createDoor, type DoorServices, type RequestPeer } from './create-door.ts';
import { openapiDocument } from './openapi.ts';
import { routesFor } from './routes/index.ts';

/** Paths of uploads, which may take longer than other requests. */
export const restUploads = /\/(package|versions\/[^/]+|runbook-files\/[^/]+)$/;

/** Returns a function that handles the management API `/api/v1`. It accepts only bearer tokens and ignores cookies. */
export function createRestHandler(
  services: DoorServices,
  authenticate: AuthenticateBearer = bearerAuthentication(services),
): (request: Request, info: RequestPeer) => Promise<Response> {
  const routes = routesFor(services.fleetFields);
  let text: string | undefined;
  // Takes a quarter of a second, and few readers request it, so it is written on the first request.
  const openapi = (): string => {
    text ??= JSON.stringify(openapiDocument(routes, services.config.url));
    return text;
  };
  return createDoor({
    services,
    base: '/api/v1',
    door: 'api',
    routes,
    documents: { '/openapi.json': openapi },
    authenticate,
  });
}
