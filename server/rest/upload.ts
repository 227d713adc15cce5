import { readSession, requireOwnMutation } from '#server/auth/index.ts';
import { anonymous } from '#server/domain/actor.ts';
import { createDoor, type DoorServices, type RequestInfo } from './door.ts';
import { registerPackageRoute } from './routes/versions.ts';

/**
 * The pages' own door for zips: `PUT /upload/handlers/{handler}/versions/{version}/package`, the same call as the
 * management door's, with the session's cookie and only from a page of ours. Packages are too large for tRPC.
 */
export function createUploadHandler(
  services: DoorServices,
): (request: Request, info: RequestInfo) => Promise<Response> {
  return createDoor({
    services,
    base: '/upload',
    routes: [registerPackageRoute],
    async authenticate(request, _info, now) {
      requireOwnMutation(request.headers, services.config);
      return (await readSession(services, request.headers, now))?.actor ?? anonymous;
    },
  });
}
