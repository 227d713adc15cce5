import type { inferOutput } from '@trpc/tanstack-react-query';
import { localTime } from '#app/_lib/local-time.ts';
import type { useTRPC } from '#app/_lib/trpc.tsx';

export type Rules = inferOutput<ReturnType<typeof useTRPC>['rolloutRules']['get']>;

/** A freeze as the form holds it; the times are local, as in a `datetime-local` input. */
export interface FreezeForm {
  key: string;
  from: string;
  to: string;
  reason: string;
  exempt: string[];
}

/** The rules as the form holds them: numbers are text, so that a field can be empty while it is edited. */
export interface RulesForm {
  stepsPerSecond: string;
  inFlight: string;
  approves: boolean;
  fromMembers: string;
  people: string;
  role: 'operator' | 'admin';
  automatic: boolean;
  availabilitySetTag: string;
  freezes: FreezeForm[];
}

/** What each group of fields gets: the form, a function that changes it, and the sentence of the fault at a path. */
export interface RulesFieldsProps {
  form: RulesForm;
  edit(change: Partial<RulesForm>): void;
  faultOf(path: string): string | undefined;
}

/** Returns the form for the stored rules. */
export function formOf({ approval, freezes, ...rules }: Rules): RulesForm {
  return {
    stepsPerSecond: String(rules.stepsPerSecond),
    inFlight: String(rules.inFlight),
    approves: approval !== null,
    fromMembers: String(approval?.fromMembers ?? 100),
    people: String(approval?.people ?? 1),
    role: approval?.role ?? 'operator',
    automatic: approval?.automatic ?? false,
    availabilitySetTag: rules.availabilitySetTag,
    freezes: freezes.map((freeze) => ({
      key: `${freeze.from} ${freeze.to} ${freeze.reason}`,
      from: localTime(new Date(freeze.from)),
      to: localTime(new Date(freeze.to)),
      reason: freeze.reason,
      exempt: freeze.exempt,
    })),
  };
}

/**
 * Returns the rules that the portal stores. A field that is not a number becomes NaN, and a time that cannot be read
 * becomes an empty text, so that the portal names the field.
 */
export function rulesOf(form: RulesForm): Rules {
  const instant = (text: string): string => {
    const at = new Date(text);
    return Number.isNaN(at.getTime()) ? '' : at.toISOString();
  };
  const number = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text));
  return {
    stepsPerSecond: number(form.stepsPerSecond),
    inFlight: number(form.inFlight),
    approval: form.approves
      ? {
          fromMembers: number(form.fromMembers),
          people: number(form.people),
          role: form.role,
          ...(form.automatic && { automatic: true }),
        }
      : null,
    availabilitySetTag: form.availabilitySetTag,
    freezes: form.freezes.map(({ from, to, reason, exempt }) => ({
      from: instant(from),
      to: instant(to),
      reason,
      exempt,
    })),
  };
}
