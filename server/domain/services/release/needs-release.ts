import { mayRelease } from '#server/domain/goal-states/index.ts';

/** The protected settings of one version of a service's settings. */
export interface SecretOfService {
  hasSecret: boolean | null;
  /** `Principal.key` of the person who entered them; null if unknown. */
  setBy: string | null;
}

/** The machine of a unit's VM; without `enrolledAt`, no machine has enrolled. */
export interface MachineOfUnit {
  enrolledAt: Date | null;
  /** Who issued the enrollment token, and whether this was an admin at that time. */
  issuerKey: string | null;
  issuerIsAdmin: boolean | null;
  /** The enrollment time of the machine to which an admin released the protected settings. */
  releasedMachineAt: Date | null;
}

/**
 * Whether protected settings are withheld from the machine of a unit until an admin releases them. The rule is that of
 * extensions (`mayRelease`). A release holds as long as the machine stays the same.
 */
export function needsRelease({ hasSecret, setBy }: SecretOfService, machine: MachineOfUnit): boolean {
  const { enrolledAt, issuerKey: key, issuerIsAdmin, releasedMachineAt } = machine;
  if (hasSecret !== true || enrolledAt === null) return false;
  const wasReleased = releasedMachineAt?.getTime() === enrolledAt.getTime();
  const issuer = key === null ? null : { key, isAdmin: issuerIsAdmin === true };
  return !mayRelease({ setBy, wasReleased }, { kind: 'issued', issuer, sameKey: true });
}
