'use client';

import { useEffect, useRef, useState } from 'react';
import type { ExplainedProblem, ProblemFault } from '#app/_lib/problem.ts';
import { useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { jsonObjectIn } from '../json-object.ts';

/** Milliseconds to wait after the last change before checking. */
const pause = 350;

export interface PlanToCheck {
  /** The JSON text of the plan. */
  text: string;
  vmId?: string;
  /** The parameter schema as JSON text; empty if no parameters are accepted. */
  schema?: string;
}

export interface PlanCheck {
  /** The error code that the plan would get: 0 if it can run; null if the text is not JSON or the check failed. */
  code: number | null;
  faults: readonly ProblemFault[];
  /** Likely mistakes, which do not prevent anything. */
  warnings: readonly ProblemFault[];
  /** The faults of the schema, with paths at or below `/parameters`. */
  schemaFaults: readonly ProblemFault[];
  /** Whether the plan has the format vCurrent and would be converted. */
  converted: boolean;
  /** Why the plan could not be checked, for example because the portal does not respond. */
  problem: ExplainedProblem | null;
}

/**
 * Checks a plan shortly after the last change. With `vmId`, also checks it against what the VM's machine can run. With
 * `schema`, also checks whether the Body reads parameters that the schema does not define. `settled` is whether the
 * check is about the current texts.
 */
export function usePlanCheck({ vmId, text, schema }: PlanToCheck): { check: PlanCheck | null; settled: boolean } {
  const client = useTRPCClient();
  const explain = useProblem();
  const [told, setTold] = useState<{ about: string; check: PlanCheck } | null>(null);
  const about = `${schema ?? ''}\0${text}`;
  const latest = useRef(explain);
  useEffect(() => {
    latest.current = explain;
  });
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const judged = await client.executions.validate.mutate(
          { ...(vmId !== undefined && { vmId }), ...parametersIn(schema), plan: text },
          { signal: abort.signal },
        );
        setTold({ about, check: { ...judged, problem: null } });
      } catch (error) {
        if (abort.signal.aborted) return;
        const problem = latest.current(error);
        const { faults } = problem;
        const check = {
          code: null,
          faults,
          warnings: [],
          schemaFaults: [],
          converted: false,
          problem: faults.length > 0 ? null : problem,
        };
        setTold({ about, check });
      }
    }, pause);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [client, vmId, text, schema, about]);
  return { check: told?.check ?? null, settled: told?.about === about };
}

/** Returns the schema as the portal expects it. Omits `parameters` while the text is not a JSON object. */
function parametersIn(schema: string | undefined): { parameters?: Record<string, unknown> | null } {
  const parameters = schema === undefined ? undefined : jsonObjectIn(schema);
  return parameters === undefined ? {} : { parameters };
}
