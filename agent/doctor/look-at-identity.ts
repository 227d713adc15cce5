import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { sentenceOf } from '../agent-error.ts';
import { readText } from '../folder/write-file.ts';
import { readIdentityFile } from '../identity/identity.ts';
import { type Finding, verdictsOf } from './finding.ts';
import type { Patient } from './patient.ts';

const { good, bad } = verdictsOf('identity');

/** Whether the machine is enrolled, and holds the key of the certificate for which its secrets are sealed. */
export function lookAtIdentity({ layout }: Patient): Finding[] {
  const enrol = `Make an enrolment token in the portal, then run: enroll --portal URL --dir ${layout.root}`;
  const identity = readIdentityFile(layout);
  if (identity === null) return [bad({ what: `${layout.root} holds no agent.`, toDo: enrol })];
  if (identity.vmId === null) {
    return [bad({ what: `${layout.root} was not enrolled to the end, the portal did not answer.`, toDo: enrol })];
  }
  const { thumbprint } = identity;
  const restore = `Put ${thumbprint}.crt and .prv back into ${layout.certificates} from a backup, or enrol a new folder.`;
  try {
    const certificate = new X509Certificate(readText(join(layout.certificates, `${thumbprint}.crt`)) ?? '');
    const key = createPrivateKey(readText(join(layout.certificates, `${thumbprint}.prv`)) ?? '');
    const digest = createHash('sha1').update(new Uint8Array(certificate.raw)).digest('hex').toUpperCase();
    if (digest !== thumbprint || !certificate.checkPrivateKey(key)) {
      return [bad({ what: `The files of certificate ${thumbprint} do not belong together.`, toDo: restore })];
    }
    return [good(`VM ${identity.vmId} at ${identity.portal}, certificate ${thumbprint}.`)];
  } catch (error) {
    const what = `Certificate ${thumbprint} or its key cannot be read, protected settings stay closed: ${sentenceOf(error)}.`;
    return [bad({ what, toDo: restore })];
  }
}
