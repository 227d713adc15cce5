import { z } from 'zod';

const label = z.string().max(256);

/** The name and version of an agent's software. */
export const agentDescription = z.object({ name: label.min(1), version: label.min(1) });
export type AgentDescription = z.output<typeof agentDescription>;

/** The request of a machine that enrolls as the agent of a VM. */
/** The role that a machine of a model becomes the instance of, and the machine's address in the model's network. */
export const instanceReport = z.object({ id: z.string().min(1).max(200), address: z.string().min(1).max(64) });
export type InstanceReport = z.output<typeof instanceReport>;

export const enrollRequest = z.object({
  enrollmentToken: z.string().min(1).max(512),
  /** The certificate as PEM, with an RSA key of at least 2048 bits or a P-256 key. */
  certificate: z.string().min(1).max(16_384),
  /** Signature over the text of `enrollmentToken` with the certificate's key (SHA-256), in base64. */
  proof: z.string().min(1).max(4_096).optional(),
  agent: agentDescription,
  os: z.object({ name: label.optional(), version: label.optional(), arch: label.optional() }).optional(),
  /** Required if the VM is a machine of a model. */
  instance: instanceReport.optional(),
});
export type EnrollRequest = z.output<typeof enrollRequest>;

export const enrollResponse = z.looseObject({
  vmId: z.string(),
  /** The bearer token that the agent sends with every later request. */
  credential: z.string(),
  pollSeconds: z.number().positive(),
});
export type EnrollResponse = z.output<typeof enrollResponse>;

/** The request of an agent that renews its key. */
export const renewCertificateRequest = z.object({
  /** The certificate as PEM, with an RSA key of at least 2048 bits or a P-256 key. */
  certificate: z.string().min(1).max(16_384),
  /** Signature over the text of `certificate`, or over its DER, with the old key (SHA-256), in base64. */
  proof: z.string().min(1).max(4_096),
});
export type RenewCertificateRequest = z.output<typeof renewCertificateRequest>;

export const renewCertificateResponse = z.looseObject({
  vmId: z.string(),
  /** Thumbprint of the certificate for which protected settings are encrypted from now on. */
  thumbprint: z.string(),
  /** Incarnation of the goal state in which protected settings are encrypted for the new certificate. */
  incarnation: z.number().int(),
});
export type RenewCertificateResponse = z.output<typeof renewCertificateResponse>;
