import { v7 as uuid } from 'uuid';
import { apiTokens } from '#db/schema/index.ts';
import { allow, canHoldScripts } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { newToken, sha256Hex } from '#server/platform/keys.ts';
import { holdAdmin } from '../grants.ts';
import { namespacesOf } from '../members/member.ts';
import { allowConfirmedCaller, type CallerContext } from '../person.ts';
import { type CreateTokenInput, createTokenInput } from './input.ts';

/**
 * Creates a token for scripts. Only this call returns its `value`; only the digest is stored. Members need a recent
 * confirmation (`confirmation_required`).
 */
export async function createToken(ctx: CallerContext, input: CreateTokenInput): Promise<{ id: string; value: string }> {
  allow(ctx.actor, 'admin');
  await allowConfirmedCaller(ctx);
  const { name, role, expiresAt = null, ...given } = parse(createTokenInput, input);
  if (expiresAt !== null && expiresAt <= ctx.now) {
    throw new DomainError('unprocessable', 'invalid', { faults: [{ path: '/expiresAt', code: 'expiry_past' }] });
  }
  const id = uuid();
  const value = newToken('token');
  const namespaces = namespacesOf(role, given.namespaces);
  const scripts = canHoldScripts(role) && given.scripts;
  await ctx.db.transaction(async (tx) => {
    await holdAdmin(tx, ctx.actor);
    await tx.insert(apiTokens).values({
      id,
      name,
      tokenHash: sha256Hex(value),
      role,
      namespaces,
      scripts,
      createdAt: ctx.now,
      createdBy: ctx.actor.id,
      expiresAt,
    });
    await recordAudit(tx, ctx, {
      action: 'token.create',
      target: { kind: 'token', id },
      after: { name, role, namespaces, scripts, expiresAt },
      details: { name, role },
    });
    await recordChange(tx, 'token', id);
  });
  return { id, value };
}
