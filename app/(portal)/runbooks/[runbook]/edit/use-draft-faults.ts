'use client';

import { useMemo } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ExplainedProblem, ProblemFault } from '#app/_lib/problem.ts';
import { useFormat } from '#app/_ui/format.ts';
import type { PlanCheck } from '#app/(portal)/vms/[vmId]/executions/new/use-plan-check.ts';
import { faultsOfDraft, type OwnFault, ownFaults } from './draft-faults.ts';
import { isWithin } from './typed-texts.ts';
import type { RunbookDraft } from './use-runbook-draft.ts';

export interface DraftSources {
  draft: RunbookDraft;
  check: PlanCheck | null;
  /** Whether the check is about the current texts. */
  settled: boolean;
  /** Why the draft was not saved. */
  problem: ExplainedProblem | undefined;
  /** Whether the reader has tried to save the draft. */
  wasTried: boolean;
}

/** The faults of the draft, with paths as in the portal's answers, and the warnings about its plan. */
export function useDraftFaults({ draft, check, settled, problem, wasTried }: DraftSources) {
  const explain = useOwnFaults();
  const plan = check?.faults ?? none;
  const schema = check?.schemaFaults ?? none;
  const faults = useMemo(
    () =>
      faultsOfDraft({ own: ownFaults(draft, wasTried).map(explain), plan, schema, rejected: problem?.faults ?? none }),
    [draft, wasTried, explain, plan, schema, problem],
  );
  const warnings = useMemo(
    () => (check?.warnings ?? none).filter(({ path }) => !Object.keys(draft.typed).some((at) => isWithin(path, at))),
    [check, draft.typed],
  );
  /** Returns the faults that are known to prevent saving. The portal finds the others. */
  const blocks = (about: RunbookDraft): ProblemFault[] =>
    faultsOfDraft({
      own: ownFaults(about, true).map(explain),
      plan: settled ? plan : none,
      schema: settled ? schema : none,
      rejected: none,
    });
  return { faults, warnings, blocks };
}

const none: readonly ProblemFault[] = [];

/** Returns a function that explains the faults that the editor finds itself. */
function useOwnFaults(): (fault: OwnFault) => ProblemFault {
  const { t } = useTranslation(['runbooks', 'executions']);
  const format = useFormat();
  return useMemo(() => {
    const sentences: Record<OwnFault['code'], string> = {
      required: t('runbooks:edit.required'),
      version: t('runbooks:edit.version.wrong'),
      timeout: t('executions:run.timeout.range', { days: format.number(7) }),
      schema: t('runbooks:edit.schema.malformed'),
      options: t('runbooks:run.json.malformed'),
      optionTimeout: t('runbooks:option.timeout.wrong'),
      variables: t('runbooks:option.environment.wrong'),
    };
    return ({ path, code }) => ({ path, code, message: sentences[code] });
  }, [t, format]);
}
