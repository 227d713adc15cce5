import { readText } from '../folder/write-file.ts';
import { readIdentityFile } from '../identity/identity.ts';
import type { PortalResponse } from '../portal/call.ts';
import { plainHttpAdvice, plainHttpWarning } from '../portal/plain-http.ts';
import { PortalRefusal, portalUrl } from '../portal/portal.ts';
import type { ExaminedMachine } from './examined-machine.ts';
import { explainSilence } from './explain-silence.ts';
import { type DoctorFinding, verdictsOf } from './finding.ts';

const portalFinding = verdictsOf('portal');
const clockFinding = verdictsOf('clock');
const credentialFinding = verdictsOf('credential');

/** URL path of a package that does not exist. A request for it requires the credential and changes nothing. */
const nothing = `/agent/v1/packages/${'0'.repeat(64)}`;
const answerSeconds = 10;
/**
 * Thresholds for the clock difference in seconds: the doctor gives advice from the first threshold, and reports a fault
 * from the second. A Date header has whole seconds, and synchronized clocks differ by less than one second.
 */
const [oddSeconds, wrongSeconds] = [30, 300];

/**
 * Checks that the URL belongs to an Annex portal, that the portal's clock agrees with this machine's, and that the
 * portal accepts the credential.
 */
export async function checkPortal({ layout, call, portal }: ExaminedMachine): Promise<DoctorFinding[]> {
  const address = readIdentityFile(layout)?.portal ?? portal;
  if (address === undefined) {
    return [
      portalFinding.advice({ what: 'No portal is configured yet.', toDo: 'Set --portal to check the connection.' }),
    ];
  }
  const plain = checkEncryption(address);
  const credential = readText(layout.credential)?.trim();
  const sent = Date.now();
  let answer: PortalResponse;
  try {
    // Sends no Annex-Agent header: the running agent counts its calls, and a second count would look like a second
    // machine.
    const headers: Record<string, string> = credential ? { authorization: `Bearer ${credential}` } : {};
    answer = await call({ method: 'GET', url: portalUrl(address, nothing), headers, idleSeconds: answerSeconds });
  } catch (error) {
    return [explainSilence(address, error), ...plain];
  }
  const clock = checkClock(answer, (sent + Date.now()) / 2);
  const refusal = new PortalRefusal(answer);
  if (refusal.code === '') {
    const what = `${address} responds with ${answer.status}, but is not a portal.`;
    const toDo = 'Check the address. A proxy or load balancer in between may be responding in its place.';
    return [portalFinding.bad({ what, toDo }), ...plain, ...clock];
  }
  const there = refusal.status >= 500 ? busy(address, refusal) : portalFinding.good(`${address} responds.`);
  return [there, ...plain, ...clock, ...(credential ? checkCredential(refusal) : [])];
}

function checkEncryption(address: string): DoctorFinding[] {
  const what = plainHttpWarning(address);
  return what === null ? [] : [portalFinding.advice({ what, toDo: plainHttpAdvice })];
}

function busy(address: string, refusal: PortalRefusal): DoctorFinding {
  const toDo = 'Wait. If it continues, contact the people who run the portal. Reports are kept in the meantime.';
  return portalFinding.advice({ what: `${address} responds, but is not working: ${refusal.message}.`, toDo });
}

function checkCredential(refusal: PortalRefusal): DoctorFinding[] {
  if (refusal.status === 404) return [credentialFinding.good('The portal knows this machine.')];
  if (refusal.status === 401) {
    const what = 'The portal does not know the credential: the VM was deleted, or another machine was enrolled for it.';
    const toDo = 'Create an enrollment token for the VM in the portal, then run enroll --again with it.';
    return [credentialFinding.bad({ what, toDo })];
  }
  if (refusal.status === 409) {
    const toDo = 'Turn off one of the two, then enroll it with its own token.';
    return [
      credentialFinding.bad({ what: 'A second machine, probably a copy of this disk, uses this identity.', toDo }),
    ];
  }
  const toDo = 'Wait a minute, then run doctor again.';
  return [
    credentialFinding.advice({
      what: `The portal did not say whether it knows this machine: ${refusal.message}.`,
      toDo,
    }),
  ];
}

/** Compares the clock with the portal's Date header. Returns no finding if there is no header. */
function checkClock({ headers }: PortalResponse, here: number): DoctorFinding[] {
  const there = Date.parse(headers.date ?? '');
  if (Number.isNaN(there)) return [];
  // A Date header is rounded down to the second.
  const seconds = Math.round((here - there - 500) / 1000);
  const off = Math.abs(seconds);
  if (off < oddSeconds) return [clockFinding.good('The clock agrees with the portal.')];
  const what = `The clock of this machine is ${spanOf(off)} ${seconds > 0 ? 'ahead of' : 'behind'} the portal's.`;
  const toDo =
    'Turn on time synchronization: timedatectl set-ntp true. If this clock is right, correct the portal’s clock.';
  return [off < wrongSeconds ? clockFinding.advice({ what, toDo }) : clockFinding.bad({ what, toDo })];
}

function spanOf(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 - 60 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 360) / 10} h`;
}
