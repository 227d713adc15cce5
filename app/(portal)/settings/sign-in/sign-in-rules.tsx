'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { inferOutput } from '@trpc/tanstack-react-query';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { toast } from '#app/_ui/toast.tsx';

const ConfirmDialog = dynamic(() => import('#app/_ui/confirm-dialog.tsx').then((module) => module.ConfirmDialog), {
  ssr: false,
});

type Rules = inferOutput<ReturnType<typeof useTRPC>['signIn']['rules']>;

/** Sets whether everyone needs a second factor. */
export function SignInRules({ first }: { first: Rules }) {
  const { t } = useTranslation('settings');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const rules = useQuery({ ...trpc.signIn.rules.queryOptions(), initialData: first });
  const [isAsking, setAsking] = useState(false);
  const set = useMutation(
    trpc.signIn.setRules.mutationOptions({
      onSuccess: async (_, { requireFactor }) => {
        await queryClient.invalidateQueries(trpc.signIn.pathFilter());
        toast(t(requireFactor ? 'rules.factor.on.done' : 'rules.factor.off.done'));
      },
    }),
  );
  const { requireFactor, membersWithoutFactor } = rules.data;
  const act = requireFactor ? 'off' : 'on';
  return (
    <Card>
      <CardHeader
        title={t('rules.factor')}
        note={t(requireFactor ? 'rules.factor.isOn' : 'rules.factor.isOff')}
        actions={<Button onClick={() => setAsking(true)}>{t(`rules.factor.${act}`)}</Button>}
      />
      {rules.error === null ? null : <QueryError error={rules.error} onRetry={rules.refetch} />}
      <CardBody>
        <p className="max-w-[72ch] text-ink-2">{t('rules.factor.what')}</p>
        <p className="mt-1">{t('rules.factor.without', { count: membersWithoutFactor })}</p>
      </CardBody>
      {isAsking ? (
        <ConfirmDialog
          open
          tone="default"
          onOpenChange={setAsking}
          title={t(`rules.factor.${act}.title`)}
          description={t(`rules.factor.${act}.why`, { count: membersWithoutFactor })}
          confirmLabel={t(`rules.factor.${act}`)}
          error={set.error === null ? undefined : explain(set.error).message}
          onConfirm={() => set.mutateAsync({ requireFactor: !requireFactor })}
        />
      ) : null}
    </Card>
  );
}
