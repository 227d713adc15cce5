'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Cable, KeyRound } from 'lucide-react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { EnrollCommands } from '#app/(portal)/vms/enroll-commands.tsx';
import { NeverHeard } from './never-heard.tsx';
import type { VmFacts } from './vm-data.ts';
import type { VmAct } from './vm-dialogs.tsx';

export interface NeverEnrolledProps {
  facts: VmFacts;
  gatewayUrl: string;
  onAct(act: VmAct): void;
}

/**
 * Shown for a VM whose agent has never called. On request, creates a token and shows it once, with the commands to run
 * on the machine. If a machine has already enrolled with another token, shows `NeverHeard` instead.
 */
export function NeverEnrolled({ facts, gatewayUrl, onAct }: NeverEnrolledProps) {
  const { t } = useTranslation('enrollment');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const may = useReader().can('operator');
  const until = facts.enrollmentExpiresAt;
  const issue = useMutation(
    trpc.vms.issueEnrollmentToken.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries(trpc.vms.get.pathFilter()),
    }),
  );
  // If the token was created on this page, the token and the progress stay visible after the machine enrolls.
  if (facts.agentKind !== null && !issue.data) return <NeverHeard facts={facts} onAct={onAct} />;
  return (
    <Card>
      <EmptyState
        title={t('never.title', { name: facts.name })}
        actions={
          may ? (
            <>
              <Button
                variant={issue.data ? 'default' : 'primary'}
                busy={issue.isPending}
                onClick={() => issue.mutate({ vmId: facts.id })}
              >
                <KeyRound aria-hidden />
                {t('token')}
              </Button>
              <Button variant="ghost" onClick={() => onAct({ kind: 'stock' })}>
                <Cable aria-hidden />
                {t('stock')}
              </Button>
            </>
          ) : undefined
        }
        foot={
          may && until !== null && !issue.data ? (
            <Trans text={t('never.pending')} tags={{ clock: <DateTime value={new Date(until)} /> }} />
          ) : undefined
        }
      >
        <p>{t(may ? (issue.data ? 'token.why' : 'never.why') : 'never.viewer')}</p>
        {issue.error ? (
          <div role="alert" className="mt-2">
            <FieldError>{explain(issue.error).message}</FieldError>
          </div>
        ) : null}
        {issue.data ? (
          <div className="mt-3 text-start text-ink">
            <EnrollCommands vm={facts} gatewayUrl={gatewayUrl} token={issue.data} before={null} />
          </div>
        ) : null}
      </EmptyState>
    </Card>
  );
}
