import { readSession, requireOwnMutation } from '#server/auth/index.ts';
import { anonymous } from '#server/domain/actor.ts';
import { createDoor, type DoorServices, type RequestPeer } from './create-door.ts';
import { setResourcesRoute } from './routes/resources.ts';
import { putRunbookFileRoute } from './routes/runbook-files.ts';
import { registerPackageRoute } from './routes/versions.ts';
import { xliffRoutes } from './routes/xliff.ts';

/**
 * Returns a function that handles uploads of zips, language files and files of execution plans, which are too large for
 * tRPC: `PUT /upload/handlers/{handler}/versions/{version}/package`, `…/resources/{lang}`, `…/resources/{lang}.xlf` and
 * `/upload/runbook-files/{id}`. They work as in `/api/v1`, but require a session cookie and must come from the portal's
 * own pages.
 */
export function createUploadHandler(
  services: DoorServices,
): (request: Request, info: RequestPeer) => Promise<Response> {
  return createDoor({
    services,
    base: '/upload',
    door: 'page',
    routes: [registerPackageRoute, ...xliffRoutes, setResourcesRoute, putRunbookFileRoute],
    async authenticate(request, _info, now) {
      requireOwnMutation(request.headers, services.config);
      return (await readSession(services, request.headers, now))?.actor ?? anonymous;
    },
  });
}
