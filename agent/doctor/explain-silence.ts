import { sentenceOf } from '../agent-error.ts';
import { type DoctorFinding, verdictsOf } from './finding.ts';

const { bad } = verdictsOf('portal');

interface Cause {
  codes: string[];
  what: string;
  toDo: string;
}

const causes: Cause[] = [
  {
    codes: ['ENOTFOUND', 'EAI_AGAIN'],
    what: 'its name cannot be resolved',
    toDo: 'Check the address and the DNS settings of this machine (/etc/resolv.conf).',
  },
  {
    codes: ['ECONNREFUSED'],
    what: 'the connection was refused',
    toDo: 'Start the portal, or check host and port. Behind a proxy, check that this is the address of the portal itself.',
  },
  {
    codes: ['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'silence'],
    what: 'there is no response',
    toDo: 'Check routes and firewalls between this machine and the portal, or set --proxy.',
  },
  {
    codes: [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_GET_ISSUER_CERT',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
    what: 'its certificate is signed by an authority that this machine does not trust',
    toDo: 'Add the PEM file of that authority with --ca FILE, or "ca" in config.json. If a proxy inspects TLS, add the authority of the proxy.',
  },
  {
    codes: ['CERT_HAS_EXPIRED'],
    what: 'its certificate has expired, according to the clock of this machine',
    toDo: 'Check the clock of this machine (date); if it is right, the portal needs a new certificate.',
  },
  {
    codes: ['CERT_NOT_YET_VALID'],
    what: 'its certificate is not valid yet, according to the clock of this machine',
    toDo: 'Set the clock of this machine: timedatectl set-ntp true.',
  },
  {
    codes: ['ERR_TLS_CERT_ALTNAME_INVALID'],
    what: 'its certificate is for another name',
    toDo: 'Use the name in the certificate, or give the portal a certificate for this name.',
  },
  {
    codes: ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'HPE_INVALID_CONSTANT', 'ECONNRESET'],
    what: 'it does not use the protocol in the address',
    toDo: 'Check http or https, and the port.',
  },
  {
    codes: ['ERR_PROXY_TUNNEL', 'ERR_PROXY_INVALID_CONFIG'],
    what: 'the proxy rejected the connection',
    toDo: 'Check --proxy and its user name and password, or add the portal to --direct-hosts.',
  },
];

/** Explains why the portal did not respond, and what to do about it. */
export function explainSilence(address: string, error: unknown): DoctorFinding {
  const { code = 'silence' } = error as NodeJS.ErrnoException;
  const cause = causes.find(({ codes }) => codes.includes(code));
  if (cause === undefined) {
    return bad({
      what: `${address} cannot be reached: ${sentenceOf(error)}.`,
      toDo: 'Check the address and the network.',
    });
  }
  const { what, toDo } = cause;
  return bad({
    what: `${address} cannot be reached: ${what} (${code === 'silence' ? sentenceOf(error) : code}).`,
    toDo,
  });
}
