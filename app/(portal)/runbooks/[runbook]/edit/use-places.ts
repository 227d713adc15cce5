'use client';

import { useEffect, useRef, useState } from 'react';
import type { ProblemFault } from '#app/_lib/problem.ts';
import type { CodeEditorHandle } from '#app/_ui/code-editor.tsx';
import type { JsonEditorHandle, JsonPlace } from '#app/_ui/json-editor.tsx';
import { isWithin, type TypedTexts } from './typed-texts.ts';

export type PlanMode = 'parts' | 'json';
type Place = Pick<ProblemFault, 'path' | 'line'>;

/** Which view of the plan is shown, and how to move the focus to the place of a fault. */
export function usePlaces(typed: TypedTexts) {
  const [view, setView] = useState<PlanMode>('parts');
  const [startAt, setStartAt] = useState<JsonPlace>();
  const [next, setNext] = useState<Place | null>(null);
  const planEditor = useRef<JsonEditorHandle>(null);
  const schemaEditor = useRef<JsonEditorHandle>(null);
  const bodyEditor = useRef<CodeEditorHandle>(null);
  const show = (wanted: PlanMode, at?: JsonPlace) => {
    setStartAt(at);
    setView(wanted);
  };
  const goTo = ({ path, line }: Place) => {
    if (!isWithin(path, '/plan')) {
      if (isWithin(path, '/parameters'))
        schemaEditor.current?.goTo({ pointer: path.slice('/parameters'.length), line });
      else focusAt(path);
      return;
    }
    const pointer = path.slice('/plan'.length);
    const isTyped = typed[pointer] !== undefined;
    if (view === 'json' && !isTyped) planEditor.current?.goTo({ pointer, line });
    else if (view === 'json') {
      show('parts');
      setNext({ path, line });
    } else if (path === '/plan/Body') bodyEditor.current?.goToLine(line ?? 1);
    else if (!focusAt(path)) show('json', { pointer, line });
  };
  useEffect(() => {
    if (next === null || view !== 'parts') return;
    focusAt(next.path);
    setNext(null);
  }, [next, view]);
  return { view, setView: (wanted: PlanMode) => show(wanted), startAt, goTo, planEditor, schemaEditor, bodyEditor };
}

const focusable = ':is(.cm-content, input, textarea, select, button):not(:disabled)';

/** Moves the focus to the nearest element at a path, below the whole plan. Returns whether there is one. */
function focusAt(path: string): boolean {
  for (let at = path; at !== '' && at !== '/plan'; at = at.slice(0, at.lastIndexOf('/'))) {
    const place = document.querySelector<HTMLElement>(`[data-at="${CSS.escape(at)}"]`);
    const field = place?.matches(focusable) ? place : place?.querySelector<HTMLElement>(focusable);
    if (field === null || field === undefined) continue;
    field.focus({ preventScroll: true });
    field.scrollIntoView({ block: 'center' });
    return true;
  }
  return false;
}
