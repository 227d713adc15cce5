import { readSession, requireOwnMutation } from '#server/auth/index.ts';
import { anonymous } from '#server/domain/actor.ts';
import { createDoor, type DoorServices, type RequestPeer } from './create-door.ts';
import { setResourcesRoute } from './routes/resources.ts';
import { registerPackageRoute } from './routes/versions.ts';
import { xliffRoutes } from './routes/xliff.ts';

/**
 * The pages' entry point for zips and language files, `PUT /upload/handlers/{handler}/versions/{version}/package`,
 * `…/resources/{lang}` and `…/resources/{lang}.xlf`: the same calls as in `/api/v1`, with the session cookie and only
 * from the portal's own pages. The files are too large for tRPC.
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
