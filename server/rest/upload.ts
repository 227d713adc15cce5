import { readSession, requireOwnMutation } from '#server/auth/index.ts';
import { anonymous } from '#server/domain/actor.ts';
import { createDoor, type DoorServices, type RequestInfo } from './door.ts';
import { setResourcesRoute } from './routes/resources.ts';
import { registerPackageRoute } from './routes/versions.ts';

/**
 * The pages' own door for zips and language files, `PUT /upload/handlers/{handler}/versions/{version}/package` and
 * `…/resources/{lang}`: the same calls as the management door's, with the session's cookie and only from a page of
 * ours. They are too large for tRPC.
 */
export function createUploadHandler(
  services: DoorServices,
): (request: Request, info: RequestInfo) => Promise<Response> {
  return createDoor({
    services,
    base: '/upload',
    routes: [registerPackageRoute, setResourcesRoute],
    async authenticate(request, _info, now) {
      requireOwnMutation(request.headers, services.config);
      return (await readSession(services, request.headers, now))?.actor ?? anonymous;
    },
  });
}
