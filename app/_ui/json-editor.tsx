'use client';

import { json } from '@codemirror/lang-json';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { Annotation, Compartment, EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { minimalSetup } from 'codemirror';
import { type Ref, useEffect, useImperativeHandle, useRef } from 'react';
import { type JsonMarks, marksOf, placeOf, setMarks } from './json-marks.ts';
import { styleNonce } from './style-nonce.ts';

/** What a page can ask of the editor. */
export interface JsonEditorHandle {
  /** Puts the keyboard at this setting (a JSON pointer), or at the nearest one that is there. */
  goTo(pointer: string): void;
}

export interface JsonEditorProps {
  ref?: Ref<JsonEditorHandle>;
  /** The text as it is typed, which need not be JSON at every moment. */
  value: string;
  /** Rises when a typed text was replaced, also by the value from before. */
  replacements?: number;
  onChange(text: string): void;
  /** What is edited: the accessible name. */
  label: string;
  /** Where the keys are explained, for readers of the screen. */
  describedBy?: string;
  marks: JsonMarks;
  readOnly?: boolean;
}

const fromOutside = Annotation.define<boolean>();

const look = EditorView.theme({
  '&': { backgroundColor: 'transparent', color: 'var(--text)', fontSize: '12px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '18px', letterSpacing: '-0.01em' },
  '.cm-content': { padding: '4px 0 10px', caretColor: 'var(--text)' },
  // The whole editor wears the ring: the text alone would lose its sides to what scrolls.
  '.cm-content:focus-visible': { boxShadow: 'none' },
  '.cm-line': { padding: '0 16px 0 4px' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--text-3)', border: 'none' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '36px', padding: '0 10px 0 4px' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--brand-tint)',
  },
  '.cm-active-setting': { backgroundColor: 'var(--press)' },
  '.cm-bad-setting': { backgroundColor: 'var(--failed-tint)' },
});

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--brand-text)' },
  { tag: tags.string, color: 'var(--healthy-text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--progressing-text)' },
]);

/**
 * Edits JSON. Tab leaves the editor, as it leaves every other field; lines are indented by Enter and by `Ctrl ]`.
 * Heavy: load it with `dynamic`.
 */
export function JsonEditor({
  ref,
  value,
  replacements,
  onChange,
  label,
  describedBy,
  marks,
  readOnly = false,
}: JsonEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const editable = useRef(new Compartment());
  const changed = useRef(onChange);
  const first = useRef({ value, label, describedBy });

  useEffect(() => {
    changed.current = onChange;
  }, [onChange]);

  useEffect(() => {
    if (place.current === null) return;
    const made = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: first.current.value,
        extensions: [
          minimalSetup,
          lineNumbers(),
          json(),
          EditorView.lineWrapping,
          syntaxHighlighting(colours),
          look,
          EditorView.cspNonce.of(styleNonce() ?? ''),
          marksOf,
          editable.current.of([]),
          EditorView.contentAttributes.of({
            'aria-label': first.current.label,
            ...(first.current.describedBy === undefined ? {} : { 'aria-describedby': first.current.describedBy }),
            autocapitalize: 'off',
            autocorrect: 'off',
            spellcheck: 'false',
          }),
          EditorView.updateListener.of((update) => {
            const isOurs = update.transactions.some((transaction) => transaction.annotation(fromOutside));
            if (update.docChanged && !isOurs) changed.current(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    return () => {
      made.destroy();
      view.current = null;
    };
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a replaced text may have the value from before
  useEffect(() => {
    const current = view.current;
    if (current === null || current.state.doc.toString() === value) return;
    current.dispatch({
      changes: { from: 0, to: current.state.doc.length, insert: value },
      annotations: fromOutside.of(true),
    });
  }, [value, replacements]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: marks stand at places in the text, so they move with it
  useEffect(() => {
    view.current?.dispatch({ effects: setMarks.of(marks) });
  }, [marks, value]);

  useEffect(() => {
    view.current?.dispatch({
      effects: editable.current.reconfigure([EditorState.readOnly.of(readOnly), EditorView.editable.of(!readOnly)]),
    });
  }, [readOnly]);

  useImperativeHandle(ref, () => ({
    goTo(pointer) {
      const current = view.current;
      if (current === null) return;
      current.dispatch({ selection: { anchor: placeOf(current.state, pointer) }, scrollIntoView: true });
      current.focus();
    },
  }));

  return (
    <div
      ref={place}
      // JSON runs left to right in every language.
      dir="ltr"
      className="max-h-[70vh] overflow-auto has-[.cm-content:focus-visible]:outline-2 has-[.cm-content:focus-visible]:-outline-offset-2 has-[.cm-content:focus-visible]:outline-brand-text"
    />
  );
}
