import { readSession, requireOwnMutation } from '#server/auth/index.ts';
import { anonymous } from '#server/domain/actor.ts';
import { createDoor, type DoorServices, type RequestPeer } from './create-door.ts';
import { setResourcesRoute } from './routes/resources.ts';
import { registerPackageRoute } from './routes/versions.ts';
import { xliffRoutes } from './routes/xliff.ts';

/**
 * Returns a function that handles uploads of zips and language files, which are too large for tRPC: `PUT
 * /upload/handlers/{handler}/versions/{version}/package`, `…/resources/{lang}` and `…/resources/{lang}.xlf`. They work
 * as in `/api/v1`, but require a session cookie and must come from the portal's own pages.
 */
export function createUploadHandler(
  services: DoorServices,
): (request: Request, info: RequestPeer) => Promise<Response> {
  return createDoor({
    services,
    base: '/upload',
    door: 'page',
    routes: [registerPackageRoute, ...xliffRoutes, setResourcesRoute],
    async authenticate(request, _info, now) {
      requireOwnMutation(request.headers, services.config);
      return (await readSession(services, request.headers, now))?.actor ?? anonymous;
    },
  });
}
