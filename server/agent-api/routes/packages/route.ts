import { DomainError } from '#server/domain/error.ts';
import { findPackageOfVm } from '#server/domain/goal-states/index.ts';
import { findFormulaPackage } from '#server/domain/services/index.ts';
import { admit, authenticate } from '../../authenticate.ts';
import type { AgentCall } from '../../call.ts';
import { sendBytes } from '../../send-bytes.ts';

/**
 * Digest of a package that does not exist. `agent doctor` requests it to check the credential, and sends no call
 * counter, because a second process with a counter would look like a second machine.
 */
const noPackage = '0'.repeat(64);

/**
 * `GET /agent/v1/packages/{sha256}`: returns a package or a range of its bytes, if the VM's own goal state names the
 * package, or if it is of a formula of the VM's units.
 */
export async function packageBytes(call: AgentCall, match: RegExpExecArray): Promise<Response> {
  const sha256 = match[1] ?? '';
  const agent = sha256 === noPackage ? await authenticate(call) : (await admit(call)).agent;
  return sendPackage(call, agent.vmId, sha256);
}

/**
 * Sends a package of the VM's extensions or units. Throws 404 `package_absent` for any other package, 429
 * `downloads_waiting` if too many downloads are running, or 503 `package_damaged` if the package's file is missing or
 * has the wrong size. If the bytes turn out to be damaged, the transfer fails.
 */
export async function sendPackage(call: AgentCall, vmId: string, sha256: string): Promise<Response> {
  const { db } = call.door.services;
  const size = (await findPackageOfVm(db, vmId, sha256)) ?? (await findFormulaPackage(db, vmId, sha256));
  if (size === null) throw new DomainError('not_found', 'package_absent');
  return sendBytes(call, vmId, { sha256, size, type: 'application/zip', damaged: () => damaged(call, sha256) });
}

const retryAfter = 60;

/**
 * Logs which package is lost or damaged, and returns the error. The agent retries until the package is uploaded again.
 */
function damaged({ door, requestId }: AgentCall, sha256: string): DomainError {
  door.log.error({ requestId, sha256 }, 'the bytes of a package are lost or damaged: upload the same zip again');
  return new DomainError('unavailable', 'package_damaged', { retryAfter });
}
