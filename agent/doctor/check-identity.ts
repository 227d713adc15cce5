import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { sentenceOf } from '../agent-error.ts';
import { readText } from '../folder/write-file.ts';
import { readIdentityFile } from '../identity/identity.ts';
import type { ExaminedMachine } from './examined-machine.ts';
import { type DoctorFinding, verdictsOf } from './finding.ts';

const { good, bad } = verdictsOf('identity');

/** Checks that the machine is enrolled and has the key that decrypts its protected settings. */
export function checkIdentity({ layout }: ExaminedMachine): DoctorFinding[] {
  const enroll = `Create an enrollment token in the portal, then run: enroll --portal URL --dir ${layout.root}`;
  const identity = readIdentityFile(layout);
  if (identity === null) return [bad({ what: `${layout.root} has no enrolled agent.`, toDo: enroll })];
  if (identity.vmId === null) {
    return [bad({ what: `${layout.root} did not finish enrolling: the portal did not respond.`, toDo: enroll })];
  }
  const { thumbprint } = identity;
  const restore = `Put ${thumbprint}.crt and .prv back into ${layout.certificates} from a backup, or enroll a new folder.`;
  try {
    const certificate = new X509Certificate(readText(join(layout.certificates, `${thumbprint}.crt`)) ?? '');
    const key = createPrivateKey(readText(join(layout.certificates, `${thumbprint}.prv`)) ?? '');
    const digest = createHash('sha1').update(new Uint8Array(certificate.raw)).digest('hex').toUpperCase();
    if (digest !== thumbprint || !certificate.checkPrivateKey(key)) {
      return [bad({ what: `The files of certificate ${thumbprint} do not match.`, toDo: restore })];
    }
    return [good(`VM ${identity.vmId} at ${identity.portal}, certificate ${thumbprint}.`)];
  } catch (error) {
    const what = `Certificate ${thumbprint} or its key cannot be read, so protected settings cannot be decrypted: ${sentenceOf(error)}.`;
    return [bad({ what, toDo: restore })];
  }
}
