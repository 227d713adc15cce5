'use client';

import { json } from '@codemirror/lang-json';
import { syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { minimalSetup } from 'codemirror';
import { type Ref, type RefObject, useEffect, useImperativeHandle, useRef } from 'react';
import { type JsonMark, type JsonMarks, lineOf, marksOf, placeOf, setMarks } from './json-marks.ts';
import { fromOutside, replaceText } from './json-text.ts';
import { colors, focusFrame, theme } from './json-theme.ts';
import { styleNonce } from './style-nonce.ts';

/** The editor's methods for the page that contains it. */
export interface JsonEditorHandle {
  /** Moves the focus to a setting, or to its nearest existing parent. */
  goTo(place: JsonPlace): void;
}

/** A setting, as a JSON pointer. With `line` and an empty pointer: a line of the text. */
export type JsonPlace = Pick<JsonMark, 'pointer' | 'line'>;

export interface JsonEditorProps {
  ref?: Ref<JsonEditorHandle>;
  /** The text as typed, which may not be valid JSON. */
  value: string;
  /** How many times the page has replaced typed text. It increases even if `value` stays the same. */
  replacements?: number;
  onChange(text: string): void;
  /** The editor's accessible name. */
  label: string;
  /** Id of the element that explains the keys to screen reader users. */
  describedBy?: string;
  marks: JsonMarks;
  readOnly?: boolean;
  /** The place that gets the focus when the editor opens. */
  startAt?: JsonPlace | undefined;
}

/**
 * Edits JSON. As in other fields, Tab moves the focus out of the editor; Enter and `Ctrl ]` indent lines. The editor's
 * script is large, so load it with `dynamic`.
 */
export function JsonEditor({ ref, marks, readOnly = false, ...props }: JsonEditorProps) {
  const { value } = props;
  const place = useRef<HTMLDivElement>(null);
  const editable = useRef(new Compartment());
  const view = useEditorView(place, editable, props);
  useOutsideText(view, value, props.replacements ?? 0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the positions of marks depend on the text
  useEffect(() => {
    view.current?.dispatch({ effects: setMarks.of(marks) });
  }, [marks, value]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the view is created once
  useEffect(() => {
    view.current?.dispatch({
      effects: editable.current.reconfigure([EditorState.readOnly.of(readOnly), EditorView.editable.of(!readOnly)]),
    });
  }, [readOnly]);

  useImperativeHandle(ref, () => ({
    goTo(place) {
      const current = view.current;
      if (current === null) return;
      focusPlace(current, place);
    },
  }));

  return (
    <div className={focusFrame}>
      <div
        ref={place}
        // JSON runs from left to right in every language.
        dir="ltr"
        className="overflow-auto sm:max-h-[70vh]"
      />
    </div>
  );
}

function focusPlace(view: EditorView, { pointer, line }: JsonPlace): void {
  const isLine = pointer === '' && line !== undefined;
  const anchor = isLine ? lineOf(view.state, { pointer, line }).from : placeOf(view.state, pointer);
  view.dispatch({ selection: { anchor }, scrollIntoView: true });
  view.focus();
}

type EditorViewProps = Pick<JsonEditorProps, 'value' | 'onChange' | 'label' | 'describedBy' | 'startAt'>;

/** Creates the editor with the initial text and labels. Later texts are applied by `useOutsideText`. */
function useEditorView(
  place: RefObject<HTMLDivElement | null>,
  editable: RefObject<Compartment>,
  { onChange, ...props }: EditorViewProps,
): RefObject<EditorView | null> {
  const view = useRef<EditorView>(null);
  const changed = useRef(onChange);
  const first = useRef(props);
  useEffect(() => {
    changed.current = onChange;
  }, [onChange]);
  useEffect(() => {
    if (place.current === null) return;
    const { value, label, describedBy, startAt } = first.current;
    const created = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: value,
        extensions: [
          minimalSetup,
          lineNumbers(),
          json(),
          EditorView.lineWrapping,
          syntaxHighlighting(colors),
          theme,
          EditorView.cspNonce.of(styleNonce() ?? ''),
          marksOf,
          editable.current.of([]),
          EditorView.contentAttributes.of({
            'aria-label': label,
            ...(describedBy === undefined ? {} : { 'aria-describedby': describedBy }),
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
    view.current = created;
    if (startAt !== undefined) focusPlace(created, startAt);
    return () => {
      created.destroy();
      view.current = null;
    };
  }, [place, editable]);
  return view;
}

/**
 * Replaces the text in the editor when the page changes the value. If the replaced text was typed, undo reverts the
 * typing and the replacement in one step.
 */
function useOutsideText(view: RefObject<EditorView | null>, value: string, replacements: number): void {
  const last = useRef(replacements);
  useEffect(() => {
    const isReplacement = last.current !== replacements;
    last.current = replacements;
    const current = view.current;
    if (current === null || current.state.doc.toString() === value) return;
    current.dispatch(replaceText(current.state, value, isReplacement));
  }, [view, value, replacements]);
}
