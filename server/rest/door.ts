import { randomUUID } from 'node:crypto';
import { type Attempts, openAttempts } from '#server/auth/attempts.ts';
import { actorFromBearer } from '#server/auth/bearer.ts';
import { DomainError } from '#server/domain/error.ts';
import { createDoor, type DoorServices, type RequestPeer } from './create-door.ts';
import { createFailedAttempts } from './failed-attempts.ts';
import { openapiDocument } from './openapi.ts';
import { routesFor } from './routes/index.ts';

/** Paths of package uploads, which may take longer than other requests. */
export const restUploads = /\/(package|versions\/[^/]+)$/;

/** Returns a function that handles the management API `/api/v1`. It accepts only bearer tokens and ignores cookies. */
export function createRestHandler(
  services: DoorServices,
  attempts: Attempts = openAttempts(services.log),
): (request: Request, info: RequestPeer) => Promise<Response> {
  const failed = createFailedAttempts();
  const routes = routesFor(services.fleetFields);
  return createDoor({
    services,
    base: '/api/v1',
    door: 'api',
    routes,
    documents: { '/openapi.json': JSON.stringify(openapiDocument(routes, services.config.url)) },
    async authenticate(request, { remoteAddress }, now) {
      const header = request.headers.get('authorization');
      try {
        if (header !== null) failed.check(remoteAddress, header, now);
        const actor = await actorFromBearer(services, header, now, remoteAddress);
        if (header !== null) failed.right(header);
        return actor;
      } catch (error) {
        if (error instanceof DomainError && error.kind === 'unauthenticated') failed.wrong(remoteAddress, now);
        const origin = { door: 'api' as const, address: remoteAddress, client: request.headers.get('user-agent') };
        await attempts.note(error, { ...services, now, origin, requestId: randomUUID() });
        throw error;
      }
    },
  });
}
