CREATE TABLE "audit_anchors" (
	"position" bigint PRIMARY KEY NOT NULL,
	"hash" text NOT NULL,
	"at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "audit_chain" (
	"id" integer PRIMARY KEY NOT NULL,
	"position" bigint NOT NULL,
	"hash" text NOT NULL,
	"linked_at" timestamp with time zone NOT NULL,
	"verified_at" timestamp with time zone,
	"verified_position" bigint,
	"fault" jsonb
);
--> statement-breakpoint
ALTER TABLE "audit_entries" ADD COLUMN "door" text;--> statement-breakpoint
ALTER TABLE "audit_entries" ADD COLUMN "address" text;--> statement-breakpoint
ALTER TABLE "audit_entries" ADD COLUMN "client" text;--> statement-breakpoint
ALTER TABLE "audit_entries" ADD COLUMN "before" jsonb;--> statement-breakpoint
ALTER TABLE "audit_entries" ADD COLUMN "after" jsonb;--> statement-breakpoint
ALTER TABLE "audit_entries" ADD COLUMN "seal" text;--> statement-breakpoint
ALTER TABLE "audit_entries" ADD COLUMN "position" bigint;--> statement-breakpoint
ALTER TABLE "audit_entries" ADD COLUMN "hash" text;--> statement-breakpoint
CREATE INDEX "audit_entries_unlinked" ON "audit_entries" USING btree ("id") WHERE "audit_entries"."position" is null;--> statement-breakpoint
CREATE INDEX "audit_entries_at" ON "audit_entries" USING btree ("at","id");--> statement-breakpoint
CREATE INDEX "audit_entries_vm_at" ON "audit_entries" USING btree ("vm_id","at","id");--> statement-breakpoint
CREATE INDEX "audit_entries_actor_at" ON "audit_entries" USING btree ("actor_kind","actor_id","at","id");--> statement-breakpoint
CREATE INDEX "audit_entries_action_at" ON "audit_entries" USING btree ("action","at","id");--> statement-breakpoint
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_seal" UNIQUE("seal");--> statement-breakpoint
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_position" UNIQUE("position");