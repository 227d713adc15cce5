'use client';

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { StatusIcon, type StatusName } from '#app/_ui/status-icon.tsx';
import { reachedSteps } from './reached-steps.ts';

/** Interval in milliseconds at which the state is loaded if no live hint arrives. */
const reloadMs = 5_000;

const steps = ['enrolled', 'polled', 'healthy'] as const;
/** The sentence shown while the step with the same index is not complete. The last sentence is shown at the end. */
const sentences = ['progress.waiting', 'progress.first', 'progress.running', 'progress.ready'] as const;

export interface FollowedEnrollment {
  /** Number of completed steps. Once the machine has enrolled (1), its token has been used. */
  reached: number;
  /** Whether the VM has a problem that keeps it from becoming healthy. */
  isTroubled: boolean;
}

/** Follows a VM whose machine is being enrolled. `before` is as in `reachedSteps`. */
export function useEnrollment(vmId: string, before: string | null): FollowedEnrollment {
  const trpc = useTRPC();
  const { data } = useQuery({
    ...trpc.instanceViews.get.queryOptions({ vmId }),
    refetchInterval: ({ state }) => (reachedSteps(state.data, before) === steps.length ? false : reloadMs),
  });
  const reached = reachedSteps(data, before);
  return {
    reached,
    isTroubled: reached === 2 && data !== undefined && !['progressing', 'unknown'].includes(data.health),
  };
}

/** Shows the steps of an enrollment (enrolled, first poll, healthy) and a sentence about the current step. */
export function EnrollmentProgress({ vm, enrollment }: { vm: { name: string }; enrollment: FollowedEnrollment }) {
  const { t } = useTranslation('vms');
  const { reached, isTroubled } = enrollment;
  const sentence = isTroubled ? 'progress.troubled' : (sentences[reached] ?? 'progress.waiting');
  return (
    <section aria-label={t('progress', { name: vm.name })} className="rounded-md bg-sunken p-3 shadow-hair-subtle">
      <ol className="flex flex-wrap gap-x-3 gap-y-1.5 sm:gap-x-5">
        {steps.map((step, index) => (
          <li
            key={step}
            data-st={iconOf(index, reached, isTroubled)}
            aria-current={index === reached ? 'step' : undefined}
            className="flex items-center gap-1.5 text-13 aria-[current]:font-medium [&>svg]:text-st-text"
          >
            <StatusIcon status={iconOf(index, reached, isTroubled)} />
            {t(`progress.${step}`)}
            {index < reached ? <span className="sr-only">{t('progress.done')}</span> : null}
          </li>
        ))}
      </ol>
      {/* Reserves two lines on a phone, so that the dialog keeps its height when the sentence gets shorter. */}
      <p role="status" className="mt-2 min-h-[2lh] text-12 text-ink-2 sm:min-h-0">
        {t(sentence, { name: vm.name })}
      </p>
    </section>
  );
}

function iconOf(index: number, reached: number, isTroubled: boolean): StatusName {
  if (index < reached) return 'healthy';
  if (index > reached) return 'waiting';
  return isTroubled ? 'warning' : 'progressing';
}
