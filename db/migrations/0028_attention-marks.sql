CREATE TABLE "attention_marks" (
	"key" text PRIMARY KEY NOT NULL,
	"assignee_id" text,
	"assigned_by" text,
	"assigned_at" timestamp with time zone,
	"snoozed_at" timestamp with time zone,
	"snoozed_by" text,
	"snoozed_until" timestamp with time zone,
	"snoozed_vms" integer,
	"snoozed_versions" text[],
	"gone_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "attention_marks" ADD CONSTRAINT "attention_marks_assignee_id_users_id_fk" FOREIGN KEY ("assignee_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "attention_marks_assignee" ON "attention_marks" USING btree ("assignee_id") WHERE "attention_marks"."assignee_id" is not null;