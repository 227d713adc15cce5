'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { inferOutput } from '@trpc/tanstack-react-query';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody, CardFooter, CardHeader } from '#app/_ui/card.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { toast } from '#app/_ui/toast.tsx';

type Rules = inferOutput<ReturnType<typeof useTRPC>['executions']['rules']>;

const choices = ['none', 'unpublished', 'all'] as const satisfies readonly Rules['approval'][];

/** Sets which executions a second person must approve. */
export function ApprovalRules({ first }: { first: Rules }) {
  const { t } = useTranslation('settings');
  const trpc = useTRPC();
  const queries = useQueryClient();
  const explain = useProblem();
  const { data: rules } = useQuery({ ...trpc.executions.rules.queryOptions(), initialData: first });
  const [chosen, setChosen] = useState<Rules['approval'] | null>(null);
  const set = useMutation(
    trpc.executions.setRules.mutationOptions({
      onSuccess: async () => {
        await queries.invalidateQueries({ queryKey: trpc.executions.rules.queryKey() });
        setChosen(null);
        toast(t('approval.saved'));
      },
    }),
  );
  const value = chosen ?? rules.approval;
  return (
    <Card className="max-w-[880px]">
      <CardHeader title={t('approval')} />
      <CardBody className="grid grid-cols-[minmax(0,1fr)] gap-3">
        <p className="max-w-[72ch] text-ink-2">{t('approval.what')}</p>
        <div role="radiogroup" aria-label={t('approval')} className="grid gap-2">
          {choices.map((choice) => (
            <label key={choice} className="flex items-start gap-2 pointer-coarse:min-h-(--touch)">
              <input
                type="radio"
                name="approval"
                value={choice}
                checked={value === choice}
                onChange={() => {
                  forgetError(set);
                  setChosen(choice);
                }}
                className="mt-[3px] size-[15px] shrink-0 accent-brand"
              />
              <span className="min-w-0">
                {t(`approval.${choice}`)}
                <span className="block text-12 text-ink-3">{t(`approval.${choice}.what`)}</span>
              </span>
            </label>
          ))}
        </div>
        {set.error === null ? null : <FieldError>{explain(set.error).message}</FieldError>}
      </CardBody>
      <CardFooter>
        <Button
          variant="primary"
          busy={set.isPending}
          disabled={value === rules.approval}
          onClick={() => set.mutate({ approval: value })}
        >
          {t('approval.save')}
        </Button>
      </CardFooter>
    </Card>
  );
}
