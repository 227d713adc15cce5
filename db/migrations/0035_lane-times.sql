CREATE TABLE "lane_times" (
	"vm_id" uuid PRIMARY KEY NOT NULL,
	"taken_at" timestamp with time zone,
	"past" json DEFAULT '[]'::json NOT NULL
);
--> statement-breakpoint
DROP INDEX "executions_queued";--> statement-breakpoint
ALTER TABLE "lane_times" ADD CONSTRAINT "lane_times_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "executions_waiting" ON "executions" USING btree ("vm_id","turn") WHERE "executions"."state" in ('waiting-approval', 'queued');