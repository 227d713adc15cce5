import { z } from 'zod';

const label = z.string().max(256);

/** What a machine sends to become the agent of a VM. */
export const enrollRequest = z.object({
  enrollmentToken: z.string().min(1).max(512),
  /** PEM; RSA of 2048 bits or more, or P-256. */
  certificate: z.string().min(1).max(16_384),
  /** Base64 of a signature with the certificate's key (SHA-256) over the text of `enrollmentToken`. */
  proof: z.string().min(1).max(4_096).optional(),
  agent: z.object({ name: label.min(1), version: label.min(1) }),
  os: z.object({ name: label.optional(), version: label.optional(), arch: label.optional() }).optional(),
});
export type EnrollRequest = z.output<typeof enrollRequest>;

export const enrollResponse = z.looseObject({
  vmId: z.string(),
  /** Shown once; the bearer credential of every later call. */
  credential: z.string(),
  pollSeconds: z.number().positive(),
});
export type EnrollResponse = z.output<typeof enrollResponse>;

/** What an agent sends when it changes its key. */
export const renewCertificateRequest = z.object({
  /** PEM, like the one of the enrolment. */
  certificate: z.string().min(1).max(16_384),
  /** Base64 of a signature with the old key (SHA-256) over `certificate` as it stands here, or over its DER. */
  proof: z.string().min(1).max(4_096),
});
export type RenewCertificateRequest = z.output<typeof renewCertificateRequest>;

export const renewCertificateResponse = z.looseObject({
  vmId: z.string(),
  /** Of the certificate that protected settings are sealed for from now on. */
  thumbprint: z.string(),
  /** Of the goal state that has them sealed anew. */
  incarnation: z.number().int(),
});
export type RenewCertificateResponse = z.output<typeof renewCertificateResponse>;
