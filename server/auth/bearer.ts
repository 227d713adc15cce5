import { timingSafeEqual } from 'node:crypto';
import { and, eq, isNull, lt, or } from 'drizzle-orm';
import { apiTokens } from '#db/schema/index.ts';
import { type Actor, anonymous } from '#server/domain/actor.ts';
import type { Services } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { sha256Hex } from '#server/platform/keys.ts';

const minute = 60_000;

const refused = () => new DomainError('unauthenticated', 'token_refused');

/**
 * Returns the actor of this `Authorization` header: an API token, the bootstrap token if one is configured, or
 * anonymous without the header. Throws 401 `token_refused` for any other header. `address` is stored as the IP address
 * of the token's last use.
 */
export async function actorFromBearer(
  services: Services,
  header: string | null,
  now: Date,
  address: string | null = null,
): Promise<Actor> {
  if (header === null) return anonymous;
  const token = /^Bearer +([\x21-\x7e]{1,512})$/i.exec(header.trim())?.[1];
  if (token === undefined) throw refused();
  const hash = sha256Hex(token);
  const { bootstrap } = services.config;
  const expected = bootstrap.digest ?? (bootstrap.token === null ? null : sha256Hex(bootstrap.token));
  if (expected !== null && timingSafeEqual(Buffer.from(hash), Buffer.from(expected))) {
    return { kind: 'bootstrap', id: 'bootstrap', name: 'Bootstrap token', role: 'admin', namespaces: [] };
  }

  const [row] = await services.db.select().from(apiTokens).where(eq(apiTokens.tokenHash, hash));
  if (!row || row.revokedAt !== null || (row.expiresAt !== null && row.expiresAt <= now)) throw refused();
  const minuteAgo = new Date(now.getTime() - minute);
  if (row.lastUsedAt === null || row.lastUsedAt < minuteAgo) {
    await services.db
      .update(apiTokens)
      .set({ lastUsedAt: now, lastUsedFrom: address })
      .where(and(eq(apiTokens.id, row.id), or(isNull(apiTokens.lastUsedAt), lt(apiTokens.lastUsedAt, minuteAgo))));
  }
  const { id, name, role, namespaces, scripts } = row;
  return { kind: 'token', id, name, role, namespaces, scripts };
}
