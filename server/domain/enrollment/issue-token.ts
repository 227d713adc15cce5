import { and, eq, isNull } from 'drizzle-orm';
import { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { agents, enrollmentTokens, vms } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { time } from '#server/domain/answers.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { actorRef } from '#server/domain/principal.ts';
import { vmId } from '#server/domain/vms/input.ts';
import { newToken, sha256Hex } from '#server/platform/keys.ts';
import { type IssueEnrollmentTokenInput, issueEnrollmentTokenInput } from './input.ts';

const tokenHours = 24;

/** An enrollment token, which is shown only once. */
export const enrollmentToken = z.object({ enrollmentToken: z.string(), enrollmentExpiresAt: time });
export type EnrollmentToken = z.infer<typeof enrollmentToken>;

/** A VM and the token that enrolls its machine. */
export const enrollment = enrollmentToken.extend({ id: vmId, name: z.string() });
export type Enrollment = z.infer<typeof enrollment>;

/** Creates an enrollment token for a VM and revokes an earlier unused token. Only the hash of the token is stored. */
export async function issueToken(tx: Transaction, ctx: Context, vmId: string): Promise<EnrollmentToken> {
  await tx
    .update(enrollmentTokens)
    .set({ voidedAt: ctx.now })
    .where(and(eq(enrollmentTokens.vmId, vmId), isNull(enrollmentTokens.voidedAt), isNull(enrollmentTokens.usedAt)));
  const token = newToken('enroll');
  const expiresAt = new Date(ctx.now.getTime() + tokenHours * 3_600_000);
  await tx.insert(enrollmentTokens).values({
    vmId,
    tokenHash: sha256Hex(token),
    createdAt: ctx.now,
    issuedBy: actorRef(ctx.actor),
    issuedByName: ctx.actor.name,
    expiresAt,
  });
  return { enrollmentToken: token, enrollmentExpiresAt: expiresAt.toISOString() };
}

/** Issues an enrollment token for a VM's first or next machine. Throws 404 `vm_unknown`, 409 `vm_has_stock_agent`. */
export async function issueEnrollmentToken(ctx: Context, input: IssueEnrollmentTokenInput): Promise<Enrollment> {
  allow(ctx.actor, 'operator');
  const { vmId } = parse(issueEnrollmentTokenInput, input);
  return ctx.db.transaction(async (tx) => {
    const [vm] = await tx
      .select({ id: vms.id, name: vms.name })
      .from(vms)
      .where(and(eq(vms.id, vmId), isNull(vms.deletedAt)))
      .for('no key update');
    if (!vm) throw new DomainError('not_found', 'vm_unknown');
    const [agent] = await tx.select({ kind: agents.kind }).from(agents).where(eq(agents.vmId, vmId));
    if (agent?.kind === 'stock') throw new DomainError('conflict', 'vm_has_stock_agent');
    const token = await issueToken(tx, ctx, vmId);
    await recordAudit(tx, ctx, { action: 'enrollment-token.issue', target: { kind: 'vm', id: vmId }, vmId });
    await recordChange(tx, 'vm', vmId);
    return { ...vm, ...token };
  });
}
