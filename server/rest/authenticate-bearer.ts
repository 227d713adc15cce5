import { randomUUID } from 'node:crypto';
import { type Attempts, openAttempts } from '#server/auth/attempts.ts';
import { actorFromBearer } from '#server/auth/bearer.ts';
import type { Actor } from '#server/domain/actor.ts';
import { DomainError } from '#server/domain/error.ts';
import type { DoorServices, RequestPeer } from './create-door.ts';
import { createFailedAttempts } from './failed-attempts.ts';

/** Returns the caller that the API token belongs to, or anonymous without a token. Throws if the token is invalid. */
export type AuthenticateBearer = (request: Request, peer: RequestPeer, now: Date) => Promise<Actor>;

/** Returns a function that authenticates requests by their API token, and limits and logs failed attempts. */
export function bearerAuthentication(
  services: DoorServices,
  attempts: Attempts = openAttempts(services.log),
): AuthenticateBearer {
  const failed = createFailedAttempts();
  return async (request, { remoteAddress }, now) => {
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
  };
}
