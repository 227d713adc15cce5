'use client';

import { json } from '@codemirror/lang-json';
import { python } from '@codemirror/lang-python';
import { syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { minimalSetup } from 'codemirror';
import { type Ref, useEffect, useImperativeHandle, useRef } from 'react';
import { colors, focusFrame, theme } from './json-theme.ts';
import { type LineMark, lineMarks, setLineMarks } from './line-marks.ts';
import { styleNonce } from './style-nonce.ts';

export type CodeLanguage = 'json' | 'python' | 'text';

/** The editor's methods for the page that contains it. */
export interface CodeEditorHandle {
  /** Moves the focus to a line, counted from 1. */
  goToLine(line: number): void;
}

export interface CodeEditorProps {
  ref?: Ref<CodeEditorHandle>;
  value: string;
  onChange(text: string): void;
  language: CodeLanguage;
  /** The editor's accessible name. */
  label: string;
  /** Warnings, each shown below its line. */
  warnings?: readonly LineMark[];
}

const noWarnings: readonly LineMark[] = [];
const languages = { json, python, text: () => [] };

/**
 * Edits code. As in other fields, Tab moves the focus out of the editor; `Ctrl ]` indents lines. The editor's script is
 * large, so load it with `dynamic`.
 */
export function CodeEditor({ ref, value, onChange, language, label, warnings = noWarnings }: CodeEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const changed = useRef(onChange);
  const first = useRef({ value, language, label });
  useEffect(() => {
    changed.current = onChange;
  }, [onChange]);
  useEffect(() => {
    if (place.current === null) return;
    const created = createView(place.current, first.current, (text) => changed.current(text));
    view.current = created;
    return () => {
      created.destroy();
      view.current = null;
    };
  }, []);
  // Applies changes from outside the editor, such as a change in the JSON of the whole plan.
  useEffect(() => {
    const current = view.current;
    if (current === null || current.state.doc.toString() === value) return;
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: value } });
  }, [value]);
  useImperativeHandle(ref, () => ({
    goToLine(line) {
      const current = view.current;
      if (current === null) return;
      const { doc } = current.state;
      current.dispatch({ selection: { anchor: doc.line(Math.min(line, doc.lines)).from }, scrollIntoView: true });
      current.focus();
    },
  }));
  useEffect(() => {
    view.current?.dispatch({ effects: setLineMarks.of(warnings) });
  }, [warnings]);
  return (
    <div className={focusFrame}>
      <div
        ref={place}
        // Code runs from left to right in every language.
        dir="ltr"
        className="max-h-[36rem] min-h-24 overflow-auto"
      />
    </div>
  );
}

function createView(
  parent: HTMLElement,
  { value, language, label }: Pick<CodeEditorProps, 'value' | 'language' | 'label'>,
  onChange: (text: string) => void,
): EditorView {
  return new EditorView({
    parent,
    state: EditorState.create({
      doc: value,
      extensions: [
        minimalSetup,
        lineNumbers(),
        languages[language](),
        EditorView.lineWrapping,
        syntaxHighlighting(colors),
        theme,
        EditorView.cspNonce.of(styleNonce() ?? ''),
        lineMarks,
        EditorView.contentAttributes.of({
          'aria-label': label,
          autocapitalize: 'off',
          autocorrect: 'off',
          spellcheck: 'false',
        }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) onChange(state.doc.toString());
        }),
      ],
    }),
  });
}
