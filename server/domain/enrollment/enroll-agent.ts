import { and, eq, isNull } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agents, enrollmentTokens, vms } from '#db/schema/index.ts';
import type { EnrollRequest, EnrollResponse, InstanceReport } from '#protocol/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { bindCertificate, forgetDelivery, lockHead } from '#server/domain/goal-states/index.ts';
import { findPrincipal } from '#server/domain/principal.ts';
import { clearPendingRestart } from '#server/domain/reported-state/index.ts';
import { clearRefusals } from '#server/domain/vms/index.ts';
import { isSignedBy, type SealingCertificate } from '#server/platform/cms.ts';
import { keyedDigest, sha256Hex } from '#server/platform/keys.ts';
import { tell } from '#server/platform/wakes/index.ts';
import { credentialsChannel } from './credentials-channel.ts';
import { rejectKeyOfOtherVm, rejectTakenKey, requireFit } from './fit-key.ts';
import { pollSeconds } from './polling.ts';
import { deletePresence } from './remove-agent.ts';

const repeatMs = 10 * 60_000;

/**
 * Checks that a machine may become the instance of its VM's role. Returns its internal address; null for a VM that
 * belongs to no model.
 */
export type BindInstance = (
  tx: Transaction,
  ctx: Context,
  vmId: string,
  instance: InstanceReport | null,
) => Promise<string | null>;

/** Binds machines of VMs that belong to no model. */
const bindNoInstance: BindInstance = async (tx, _ctx, vmId, instance) => {
  const [vm] = await tx.select({ instanceId: vms.instanceId }).from(vms).where(eq(vms.id, vmId));
  if (instance === null && vm?.instanceId === null) return null;
  throw new DomainError('unprocessable', instance === null ? 'instance_missing' : 'instance_unknown');
};

/**
 * Enrolls a machine as the agent of the VM for which its token was issued. For 10 minutes, the same token with the same
 * key gets the same response. Models and services are later modules, so the caller passes `bindInstance` and
 * `afterBinding`, which runs in the same transaction once the machine is the VM's. Throws 401 `enrollment_refused`, 409 `key_in_use` | `vm_has_stock_agent`, 422
 * `certificate_unfit` | `enrol_proof_required` | `enrol_proof_refused`.
 */
export async function enrollAgent(
  ctx: Context,
  request: EnrollRequest,
  bindInstance: BindInstance = bindNoInstance,
  afterBinding: (tx: Transaction, ctx: Context, vmId: string) => Promise<void> = async () => {},
): Promise<EnrollResponse> {
  const certificate = requireFit(request.certificate);
  requireProof(ctx, request);
  const tokenHash = sha256Hex(request.enrollmentToken);
  // Derived, not random, so that the response can be repeated although only the hash is stored.
  const credential = `annex_agent_${keyedDigest(ctx.keys.credential, tokenHash, certificate.keyHash).toString('base64url')}`;
  return ctx.db.transaction(async (tx) => {
    const find = () => tx.select().from(enrollmentTokens).where(eq(enrollmentTokens.tokenHash, tokenHash));
    const { vmId, isRepeated } = judge(ctx, certificate, (await find())[0]);
    const answer: EnrollResponse = { vmId, credential, pollSeconds };
    if (isRepeated) return answer;
    const actor = await lockedActor(tx, vmId);
    const internalAddress = await bindInstance(tx, ctx, vmId, request.instance ?? null);
    await deletePresence(tx, vmId);
    await lockHead(tx, vmId);
    await clearPendingRestart(tx, vmId);
    const [token] = await find().for('update');
    if (judge(ctx, certificate, token).isRepeated) return answer;
    await rejectKeyOfOtherVm(tx, vmId, certificate);
    await tx
      .update(enrollmentTokens)
      .set({ usedAt: ctx.now, usedKey: certificate.keyHash })
      .where(eq(enrollmentTokens.tokenHash, tokenHash));
    const issuer = { ref: token?.issuedBy ?? null, name: token?.issuedByName ?? null };
    const machine = { ...request, internalAddress };
    await bindAgent(tx, { ...ctx, actor }, vmId, certificate, sha256Hex(credential), machine, issuer);
    await afterBinding(tx, { ...ctx, actor }, vmId);
    return answer;
  });
}

/**
 * Rejects a wrong proof and, unless proofs are optional, a missing proof. Without a proof of the private key, a machine
 * could present another machine's certificate.
 */
function requireProof({ config }: Context, { certificate, enrollmentToken, proof }: EnrollRequest): void {
  if (proof === undefined && config.enrolProof === 'optional') return;
  const isProven =
    proof !== undefined && isSignedBy(certificate, Buffer.from(enrollmentToken), Buffer.from(proof, 'base64'));
  if (isProven) return;
  const code = proof === undefined ? 'enrol_proof_required' : 'enrol_proof_refused';
  throw new DomainError('unprocessable', code, { faults: [{ path: '/proof', code }] });
}

/** Returns the token's VM, and whether the same key has just used the token. Throws 401 `enrollment_refused`. */
function judge(
  { now }: Context,
  { keyHash }: SealingCertificate,
  token: typeof enrollmentTokens.$inferSelect | undefined,
): { vmId: string; isRepeated: boolean } {
  const refused = new DomainError('unauthenticated', 'enrollment_refused');
  if (!token || token.voidedAt) throw refused;
  const { vmId, usedAt, usedKey, expiresAt } = token;
  const isRepeated = usedAt !== null && usedKey === keyHash && now.getTime() - usedAt.getTime() <= repeatMs;
  if (!isRepeated && (usedAt !== null || expiresAt <= now)) throw refused;
  return { vmId, isRepeated };
}

/**
 * Locks the VM and returns its agent as the actor. Operations that enroll, replace or remove a VM's agent lock the VM
 * first. This prevents deadlocks, because some of these operations then lock the presence before the goal state, and
 * some lock the goal state before the presence.
 */
async function lockedActor(tx: Transaction, vmId: string): Promise<Context['actor']> {
  const [vm] = await tx
    .select({ name: vms.name })
    .from(vms)
    .where(and(eq(vms.id, vmId), isNull(vms.deletedAt)))
    .for('no key update');
  if (!vm) throw new DomainError('unauthenticated', 'enrollment_refused');
  return { kind: 'agent', id: vmId, name: vm.name, role: null, namespaces: [] };
}

async function bindAgent(
  tx: Transaction,
  ctx: Context,
  vmId: string,
  certificate: SealingCertificate,
  credentialHash: string,
  request: EnrollRequest & { internalAddress: string | null },
  issuer: { ref: string | null; name: string | null },
): Promise<void> {
  const principal = await findPrincipal(tx, issuer.ref, ctx.now);
  const values = {
    credentialHash,
    certificate: certificate.pem,
    thumbprint: certificate.thumbprint,
    keyHash: certificate.keyHash,
    name: request.agent.name,
    version: request.agent.version,
    os: request.os ?? {},
    enrolledAt: ctx.now,
    enrolledBy: issuer.name,
    issuerKey: principal?.key ?? null,
    issuerIsAdmin: principal?.isAdmin ?? false,
    instanceId: null,
    internalAddress: request.internalAddress,
    duplicateSeenAt: null,
  };
  const [before] = await tx.select().from(agents).where(eq(agents.vmId, vmId));
  const [bound] = await tx
    .insert(agents)
    .values({ vmId, ...values })
    .onConflictDoUpdate({ target: agents.vmId, set: values, setWhere: eq(agents.kind, 'reference') })
    .returning({ vmId: agents.vmId })
    .catch(rejectTakenKey);
  if (bound === undefined) throw new DomainError('conflict', 'vm_has_stock_agent');
  await clearRefusals(tx, vmId);
  const origin = {
    kind: 'issued' as const,
    issuer: principal,
    sameKey: before?.keyHash === certificate.keyHash,
  };
  if (!origin.sameKey) await forgetDelivery(tx, await lockHead(tx, vmId));
  await bindCertificate(tx, ctx, vmId, certificate, origin, issuer.name);
  await recordAudit(tx, ctx, {
    action: 'agent.enroll',
    target: { kind: 'vm', id: vmId },
    vmId,
    before: before && {
      thumbprint: before.thumbprint,
      agent: { name: before.name, version: before.version },
      os: before.os,
    },
    after: { thumbprint: certificate.thumbprint, agent: request.agent, os: request.os ?? {} },
    details: { name: request.agent.name, version: request.agent.version },
  });
  await tell(tx, credentialsChannel, [vmId]);
}
