'use client';

import { useQuery } from '@tanstack/react-query';
import { ChevronRight } from 'lucide-react';
import { useId, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { cn } from '#app/_ui/cn.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import type { FailingGroup } from '../../services/failing-groups.ts';
import { Causes } from '../../units/[unit]/causes.tsx';

export interface FailureCausesProps {
  model: string;
  group: FailingGroup;
}

/** Unfolds the chain of causes of the first unit’s failed run, up to the act of an operator. */
export function FailureCauses({ model, group: { units } }: FailureCausesProps) {
  const { t } = useTranslation('services');
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const [first] = units;
  if (first === undefined) return null;
  return (
    <div>
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
        className="inline-flex min-h-6 items-center gap-1 rounded-sm text-brand-text hover:underline focus-visible:shadow-focus pointer-coarse:min-h-9"
      >
        <ChevronRight aria-hidden className={cn('size-3.5 rtl:-scale-x-100', isOpen && 'rotate-90')} />
        {t('relation.failing.causes', { unit: first.unit })}
      </button>
      {isOpen ? (
        <div id={id} className="py-1 text-13">
          <Chain model={model} unit={first.unit} run={first.run} />
        </div>
      ) : null}
    </div>
  );
}

function Chain({ model, unit, run }: { model: string; unit: string; run: string }) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const { data, error, refetch } = useQuery({
    ...trpc.units.run.queryOptions({ model, unit, run }),
    ...{ retry: false, staleTime: Number.POSITIVE_INFINITY },
  });
  if (error) return <QueryError title={t('unit.run.failed')} error={error} onRetry={refetch} />;
  return data === undefined ? (
    <SkeletonRows columns={['w-64']} rows={1} label={t('unit.run.loading')} />
  ) : (
    <Causes model={model} run={data} />
  );
}
