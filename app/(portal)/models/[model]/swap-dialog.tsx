'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ArrowRight, ArrowUpDown, Globe, Lock } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { Tag } from '#app/_ui/tag.tsx';
import type { ShownCloudService, ShownDeployment, ShownSwap } from '../model-data.ts';
import { SwapEffects } from './swap-effects.tsx';

export interface SwapDialogProps {
  service: ShownCloudService;
  onClose(): void;
}

/** Swaps the deployments of a cloud service, after showing what changes. */
export function SwapDialog({ service, onClose }: SwapDialogProps) {
  const { t } = useTranslation(['models', 'common']);
  const trpc = useTRPC();
  const queries = useQueryClient();
  const explain = useProblem();
  const { name, publicAddress, dnsName } = service;
  const plan = useQuery({ ...trpc.topology.planSwap.queryOptions({ cloudService: name }), gcTime: 0 });
  const swap = useMutation(
    trpc.topology.swap.mutationOptions({
      onSuccess: onClose,
      // Another plan may apply now.
      onError: () => plan.refetch(),
      onSettled: () => queries.invalidateQueries(trpc.models.pathFilter()),
    }),
  );
  return (
    <Dialog
      open
      size="wide"
      onOpenChange={onClose}
      title={t('models:swap.title')}
      description={t('models:swap.why', { address: publicAddress, name: dnsName })}
      footer={
        <>
          <span className="me-auto self-center text-12 text-ink-3">{t('models:swap.back')}</span>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button
            variant="primary"
            disabled={plan.data === undefined}
            busy={swap.isPending}
            onClick={() => plan.data && swap.mutate({ cloudService: name, plan: plan.data.planHash })}
          >
            <ArrowUpDown aria-hidden />
            {t('models:swap.act')}
          </Button>
        </>
      }
    >
      {plan.data !== undefined ? (
        <>
          <div className="grid grid-cols-[minmax(0,1fr)_auto_minmax(0,1fr)] items-center gap-3 max-sm:grid-cols-[minmax(0,1fr)]">
            <Side title={t('models:swap.now')} service={service} plan={plan.data} at="before" />
            <ArrowRight
              aria-hidden
              className="size-4 text-ink-3 max-sm:rotate-90 max-sm:justify-self-center rtl:-scale-x-100"
            />
            <Side title={t('models:swap.after')} service={service} plan={plan.data} at="after" />
          </div>
          <SwapEffects plan={plan.data} />
        </>
      ) : plan.error ? (
        <QueryError title={t('models:swap.failed')} error={plan.error} onRetry={plan.refetch} />
      ) : (
        <SkeletonRows columns={['w-40', 'w-40']} rows={4} label={t('common:loading')} />
      )}
      {swap.error === null ? null : (
        <div role="alert">
          <FieldError>{explain(swap.error).message}</FieldError>
        </div>
      )}
    </Dialog>
  );
}

interface SideProps {
  title: string;
  service: ShownCloudService;
  plan: ShownSwap;
  at: 'before' | 'after';
}

/** What is in the two slots before or after the swap. */
function Side({ title, service, plan, at }: SideProps) {
  const { t } = useTranslation('models');
  const deploymentOf = (name: string | null) => service.deployments.find((one) => one.name === name);
  return (
    <section aria-label={title} className="grid content-start gap-2 rounded-lg p-3 shadow-hair">
      <h3 className="text-12 text-ink-3">{title}</h3>
      {(['production', 'staging'] as const).map((slot) => {
        const Icon = slot === 'production' ? Globe : Lock;
        return (
          <div
            key={slot}
            className="grid gap-1.5 not-first-of-type:border-t not-first-of-type:border-line-subtle not-first-of-type:pt-2"
          >
            <h4 className="flex items-center gap-2 font-medium">
              <Icon aria-hidden className="size-3.5 text-ink-3" />
              {t(`slot.${slot}`)}
            </h4>
            <Roles deployment={deploymentOf(plan[slot][at])} />
          </div>
        );
      })}
    </section>
  );
}

function Roles({ deployment }: { deployment: ShownDeployment | undefined }) {
  const { t } = useTranslation('models');
  if (deployment === undefined) return <p className="text-12 text-ink-3">{t('swap.empty')}</p>;
  return (
    <p className="flex flex-wrap gap-1.5">
      {deployment.roles.map((role) => (
        <Tag key={role.id}>{role.vm}</Tag>
      ))}
    </p>
  );
}
